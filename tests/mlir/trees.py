"""A program's loop tree without any schedule, made without isl."""

from itertools import count

from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.programs.program import If, Loop, Program, Stmt
from polyhedral.looptree.tree import Instance, LoopTree, TreeGuard, TreeLoop


def disjoint_cases(cond: Cond) -> list[tuple[Constraint, ...]]:
    """Conjunctions of which exactly one holds where the condition does."""
    match cond:
        case Constraint():
            return [(cond,)]
        case And(parts):
            cases = [()]
            for part in parts:
                cases = [a + b for a in cases for b in disjoint_cases(part)]
            return cases
        case Or(()):
            return []
        case Or((first, *rest)):
            later = And((negate(first), Or(tuple(rest))))
            return disjoint_cases(first) + disjoint_cases(later)


def identity_tree(program: Program, **fields) -> LoopTree:
    """The loops as they are written; ivs are ``<variable>_<number>``."""
    numbers = count()

    def nodes(body, env):
        return tuple(n for node in body for n in convert(node, env))

    def convert(node, env):
        match node:
            case Stmt():
                yield Instance(node, tuple(env.items()))
            case If(cond, then, orelse):
                for case in disjoint_cases(cond):
                    yield TreeGuard(substituted(case, env), nodes(then, env))
                if orelse:
                    for case in disjoint_cases(negate(cond)):
                        yield TreeGuard(substituted(case, env), nodes(orelse, env))
            case Loop(var, lowers, uppers, step, body):
                iv = f"{var}_{next(numbers)}"
                lowers = tuple(e.substitute(env) for e in lowers)
                uppers = tuple(e.substitute(env) for e in uppers)
                value = Affine.of(iv)
                if step < 0:
                    lowers, uppers = tuple(1 - u for u in uppers), tuple(1 - e for e in lowers)
                    value = -value
                inner = nodes(body, {**env, var: value})
                yield TreeLoop(iv, var, lowers, uppers, abs(step), inner)

    def substituted(case, env):
        return tuple(Constraint(c.expr.substitute(env), c.kind) for c in case)

    return LoopTree(program, nodes(program.body, {}), **fields)
