#!/usr/bin/env python3
"""AutoGen 0.7.5: its messages, as dump() writes them, and the events that autogen-core logs.

    autogen.py [FOLDER...] | node recorder.mjs

The folders are put in front of sys.path: where autogen_core and autogen_agentchat are, if
they are not installed.  Needs pydantic 2."""
import json
import logging
import sys

sys.path[:0] = sys.argv[1:]
import stubs  # noqa: E402

stubs.install('autogen_core', 'autogen_agentchat', 'pydantic')

from pydantic import BaseModel  # noqa: E402
from autogen_agentchat import messages as m  # noqa: E402
from autogen_agentchat.base import TaskResult  # noqa: E402
from autogen_core import FunctionCall, logging as e  # noqa: E402
from autogen_core.memory import MemoryContent, MemoryMimeType  # noqa: E402
from autogen_core.models import FunctionExecutionResult, RequestUsage  # noqa: E402
from autogen_core import AgentId  # noqa: E402


def note(what, document):
    print(json.dumps({'adapter': 'autogen', 'what': what, 'document': document}))


class Verdict(BaseModel):
    choice: str
    score: float


usage = RequestUsage(prompt_tokens=12, completion_tokens=7)
calls = [FunctionCall(id='call_1', name='search', arguments='{"q": "pg"}'), FunctionCall(id='call_2', name='shout', arguments='hey')]
results = [FunctionExecutionResult(content='found pg', name='search', call_id='call_1', is_error=False),
           FunctionExecutionResult(content='no such tool', name='shout', call_id='call_2', is_error=True)]
said = [
    m.TextMessage(content='Which database?', source='user', metadata={'clutch_thread': 'thread:1'}),
    m.TextMessage(content='PostgreSQL it is.', source='ken', models_usage=usage),
    m.StructuredMessage[Verdict](content=Verdict(choice='pg', score=0.5), source='ken'),
    m.StopMessage(content='TERMINATE', source='ken'),
    m.HandoffMessage(content='Over to Lois', target='lois', source='ken'),
    m.ToolCallRequestEvent(content=calls, source='ken', models_usage=usage),
    m.ToolCallExecutionEvent(content=results, source='ken'),
    m.ToolCallSummaryMessage(content='found pg', source='ken', tool_calls=calls[:1], results=results[:1]),
    m.UserInputRequestedEvent(request_id='r-1', source='user'),
    m.MemoryQueryEvent(content=[MemoryContent(content='it rained', mime_type=MemoryMimeType.TEXT)], source='ken'),
    m.ModelClientStreamingChunkEvent(content='Post', source='ken'),
    m.ThoughtEvent(content='hm', source='ken'),
    m.SelectSpeakerEvent(content=['lois'], source='manager'),
    m.SelectorEvent(content='Who is next?', source='manager'),
]
try:
    import io
    import PIL.Image
    from autogen_core import Image
    said.append(m.MultiModalMessage(content=['Look:', Image.from_pil(PIL.Image.new('RGB', (1, 1)))], source='user'))
except Exception as error:
    print(f'autogen: without images: {error}', file=sys.stderr)
for message in said:
    note(type(message).__name__.split('[')[0], message.dump())

result = TaskResult(messages=said[:2], stop_reason='Text TERMINATE mentioned')
note('TaskResult', json.loads(result.model_dump_json()))


class Handler(logging.Handler):
    def emit(self, record):
        note(type(record.msg).__name__, json.loads(str(record.msg)))


log = logging.getLogger('autogen_core.events')
log.setLevel(logging.INFO)
log.addHandler(Handler())
planner, research = AgentId('planner', 'default'), AgentId('research', 'default')
log.info(e.MessageEvent(payload='{"content":"hi"}', sender=planner, receiver=research, kind=e.MessageKind.DIRECT, delivery_stage=e.DeliveryStage.SEND))
log.info(e.MessageEvent(payload='{"content":"hi"}', sender=planner, receiver=None, kind=e.MessageKind.PUBLISH, delivery_stage=e.DeliveryStage.DELIVER))
log.info(e.MessageDroppedEvent(payload='{"content":"hi"}', sender=planner, receiver=research, kind=e.MessageKind.RESPOND))
log.info(e.MessageHandlerExceptionEvent(payload='{"content":"hi"}', handling_agent=research, exception=ValueError('no plan')))
log.info(e.AgentConstructionExceptionEvent(agent_id=research, exception=ValueError('no model')))
log.info(e.LLMCallEvent(messages=[{'role': 'user', 'content': 'hi'}], response={'content': 'ho'}, prompt_tokens=12, completion_tokens=7, agent_id=research))
log.info(e.LLMStreamStartEvent(messages=[{'role': 'user', 'content': 'hi'}], agent_id=research))
log.info(e.LLMStreamEndEvent(response={'content': 'ho'}, prompt_tokens=12, completion_tokens=7, agent_id=research))
log.info(e.ToolCallEvent(tool_name='search', arguments={'q': 'pg'}, result='found pg'))
