#!/usr/bin/env python3
"""crewAI 1.15.17: the events of its event bus, as to_json() writes them.

    crewai.py [FOLDER...] | node recorder.mjs

The folders are put in front of sys.path: where crewai and crewai_core are, if they are not
installed.  Needs pydantic 2."""
import datetime
import json
import sys

sys.path[:0] = sys.argv[1:]
import stubs  # noqa: E402

stubs.install('crewai', 'crewai_core', 'pydantic')
stubs.bare('crewai')

from crewai.events.types import (  # noqa: E402
    crew_events, flow_events, hook_events, knowledge_events, llm_events, llm_guardrail_events,
    logging_events, mcp_events, memory_events, reasoning_events, task_events, tool_usage_events)
from crewai.tasks.task_output import TaskOutput  # noqa: E402

count = 0
last = None


def note(event, **more):
    """what the event bus fills in when it emits an event"""
    global count, last
    count += 1
    event.emission_sequence = count
    event.previous_event_id = last
    last = event.event_id
    for name, value in more.items():
        setattr(event, name, value)
    print(json.dumps({'adapter': 'crewai', 'what': type(event).__name__, 'document': event.to_json()}))
    return event.event_id


NOW = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)
TASK = {'task_id': '4fd6e129-9a13-4a56-9d5f-2b7a5d3f0001', 'task_name': 'research'}
AGENT = {'agent_role': 'Researcher', 'agent_id': '4fd6e129-9a13-4a56-9d5f-2b7a5d3f0002'}
output = TaskOutput(description='research pg', name='research', expected_output='findings', raw='findings', agent='Researcher')

# a crew
c, t, u = crew_events, task_events, tool_usage_events
crew = note(c.CrewKickoffStartedEvent(crew_name='crew', inputs={'q': 'pg'}))
task = note(t.TaskStartedEvent(context='be brief', **TASK), parent_event_id=crew)
tool = dict(tool_name='search', tool_args={'q': 'pg', 'limit': 2.5}, tool_class='Search', agent_key='k', **TASK, **AGENT)
call = note(u.ToolUsageStartedEvent(**tool), parent_event_id=task)
note(u.ToolUsageFinishedEvent(**tool, started_at=NOW, finished_at=NOW + datetime.timedelta(seconds=1), from_cache=False, output='found pg'),
     parent_event_id=task, started_event_id=call)
note(u.ToolUsageErrorEvent(**tool, error=ValueError('boom')), parent_event_id=task, started_event_id=call)
note(u.ToolValidateInputErrorEvent(**tool, error='no such argument'), parent_event_id=task)
note(u.ToolUsageStartedEvent(tool_name='shout', tool_args='hey'), parent_event_id=task)
m = llm_events
talk = [{'role': 'user', 'content': 'hi'}]
model = note(m.LLMCallStartedEvent(call_id='call-1', model='m-1', messages=talk, **AGENT), parent_event_id=task)
note(m.LLMStreamChunkEvent(call_id='call-1', model='m-1', chunk='fin'), parent_event_id=task)
note(m.LLMCallCompletedEvent(call_id='call-1', model='m-1', messages=talk, response='findings', call_type=m.LLMCallType.LLM_CALL,
                             usage={'prompt_tokens': 12, 'completion_tokens': 7, 'total_tokens': 19}, **AGENT), parent_event_id=task, started_event_id=model)
note(m.LLMCallFailedEvent(call_id='call-1', model='m-1', error='overloaded'), parent_event_id=task, started_event_id=model)
note(llm_guardrail_events.LLMGuardrailCompletedEvent(success=False, result=None, error='too long', retry_count=1), parent_event_id=task)
note(reasoning_events.AgentReasoningCompletedEvent(plan='look it up', ready=True, task_id=TASK['task_id'], agent_role='Researcher'), parent_event_id=task)
note(memory_events.MemoryQueryCompletedEvent(query='pg', results=[{'context': 'it rained', 'score': 0.5}], limit=3, query_time_ms=1.5), parent_event_id=task)
note(knowledge_events.KnowledgeQueryStartedEvent(task_prompt='pg'), parent_event_id=task)
note(mcp_events.MCPToolExecutionFailedEvent(server_name='files', tool_name='read', tool_args={'path': '/a'}, error='no such file'), parent_event_id=task)
note(hook_events.HookDispatchedEvent(interception_point='before_tool', outcome='proceeded', hook_count=1, duration_ms=0.5), parent_event_id=task)
note(t.TaskCompletedEvent(output=output, **TASK), parent_event_id=crew, started_event_id=task)
note(t.TaskFailedEvent(error='no findings', **TASK), parent_event_id=crew, started_event_id=task)
note(t.TaskEvaluationEvent(evaluation_type='quality', **TASK), parent_event_id=crew)
note(c.CrewKickoffCompletedEvent(crew_name='crew', output=output, total_tokens=19), started_event_id=crew)
note(c.CrewKickoffFailedEvent(crew_name='crew', error='no findings'), started_event_id=crew)
note(c.CrewTestResultEvent(crew_name='crew', quality=7.5, execution_duration=1.25, model='m-1'))

# a flow
f = flow_events
flow = note(f.FlowStartedEvent(flow_name='Review', inputs={'q': 'pg'}))
step = note(f.MethodExecutionStartedEvent(flow_name='Review', method_name='draft', params={}, state={'id': 's-1'}), parent_event_id=flow)
note(f.MethodExecutionFinishedEvent(flow_name='Review', method_name='draft', result='a draft', state={'id': 's-1', 'draft': 'a draft'}),
     parent_event_id=flow, started_event_id=step)
note(f.MethodExecutionFailedEvent(flow_name='Review', method_name='draft', error=ValueError('no ink')), parent_event_id=flow, started_event_id=step)
note(f.HumanFeedbackRequestedEvent(flow_name='Review', method_name='draft', output='a draft', message='Good?', emit=['yes', 'no']), parent_event_id=step)
note(f.HumanFeedbackReceivedEvent(flow_name='Review', method_name='draft', feedback='yes', outcome='yes'), parent_event_id=step)
note(f.FlowInputRequestedEvent(flow_name='Review', method_name='draft', message='Which year?'), parent_event_id=step)
note(f.FlowPausedEvent(flow_name='Review', flow_id='f-1', method_name='draft', state={'id': 's-1'}, message='Good?', emit=['yes']), parent_event_id=flow)
note(f.ConversationMessageAddedEvent(flow_name='Review', session_id='s-1', role='user', content='hi', message_index=0), parent_event_id=flow)
note(f.FlowFinishedEvent(flow_name='Review', result='a draft', state={'id': 's-1', 'draft': 'a draft'}), started_event_id=flow)
note(f.FlowFailedEvent(flow_name='Review', error=ValueError('no ink')), started_event_id=flow)
note(logging_events.AgentLogsStartedEvent(agent_role='Researcher', task_description='research pg'))

# a crew within a step of a flow; roles as YAML files write them; what models say on their way
flow = note(f.FlowStartedEvent(flow_name='Report', inputs={}))
step = note(f.MethodExecutionStartedEvent(flow_name='Report', method_name='research', params={}, state={'id': 's-2'}), parent_event_id=flow)
AGENT = {'agent_role': 'Senior Data Researcher\n', 'agent_id': '4fd6e129-9a13-4a56-9d5f-2b7a5d3f0003'}
crew = note(c.CrewKickoffStartedEvent(crew_name='inner', inputs={'q': 'pg'}), parent_event_id=step)
note(m.LLMCallStartedEvent(call_id='call-2', model='m-1', messages=talk, **AGENT), parent_event_id=crew)
note(m.LLMThinkingChunkEvent(call_id='call-2', model='m-1', chunk='hm'), parent_event_id=crew)
note(u.ToolSelectionErrorEvent(tool_name='', tool_args={}, tool_class='Search: searches', error='I forgot the Action name', **AGENT), parent_event_id=crew)
note(c.CrewKickoffCompletedEvent(crew_name='inner', output=output, total_tokens=19), parent_event_id=step, started_event_id=crew)
note(c.CrewKickoffFailedEvent(crew_name='inner', error='no findings'), parent_event_id=step, started_event_id=crew)
note(f.FlowFinishedEvent(flow_name='Report', result='a report', state={'id': 's-2'}), started_event_id=flow)
