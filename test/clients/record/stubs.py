"""Libraries of which only the serializers are needed are imported without what they import
beside: a module that is not installed is replaced by one that has whatever it is asked for."""
import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import types


class Stub(type):
    """A class that stands for anything: it can be called, subscripted and decorated with."""

    def __getattr__(cls, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Stub(name, (), {})

    def __call__(cls, *args, **kwargs):
        # as a decorator it leaves what it decorates as it is
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Stub('stub', (), {})

    def __getitem__(cls, key):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __iter__(cls):
        return iter(())

    def __get_pydantic_core_schema__(cls, source, handler):
        from pydantic_core import core_schema
        return core_schema.any_schema()

    def __enter__(cls):
        return cls

    def __exit__(cls, *args):
        return None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, real):
        self.real = real
        self.made = set()

    def find_spec(self, name, path, target=None):
        if name.split('.')[0] in self.real:
            return None
        self.made.add(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda attribute: None if attribute.startswith('__') else Stub(attribute, (), {})
        return module

    def exec_module(self, module):
        pass


def install(*real):
    """After this, all modules can be imported; those below the given names must be there."""
    finder = Finder(real)
    sys.meta_path.append(finder)
    known = importlib.metadata.version

    def version(name):
        try:
            return known(name)
        except importlib.metadata.PackageNotFoundError:
            return '0'      # a checkout has none
    importlib.metadata.version = version
    return finder


def bare(name):
    """The package without what its __init__ imports, for the sake of a few of its modules."""
    spec = importlib.machinery.PathFinder.find_spec(name)
    module = types.ModuleType(name)
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = module
