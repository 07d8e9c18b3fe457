import { codeOf } from '../program-attack.ts';
import { type Act, instructionsOf, textOf } from './acts.ts';
import { brokenPromise, type Expected, expected, shown } from './apply.ts';
import type { Cast } from './cast.ts';
import { feeOf, type Machine } from './machine.ts';
import type { Broken } from './rules.ts';
import { entryAt, type State } from './state.ts';

/** How often what happened, by name: `capture done`, `capture refused`, `refused: underfunded`. */
export type Tally = Map<string, number>;

const BELOW = { insufficient: 1, frozen: 17 } as const;

const isBelow = (name: Broken): name is keyof typeof BELOW => Object.hasOwn(BELOW, name);

const count = (tally: Tally, name: string) => tally.set(name, (tally.get(name) ?? 0) + 1);

/**
 * Does an act on the machine and in the model, and holds the one against the other: it is done exactly when no rule is
 * broken, a refusal names a rule that is, every account is byte for byte what the model says, and what is promised to
 * those who pay is kept.
 * @returns the state after it
 */
export function play(cast: Cast, machine: Machine, before: State, act: Act, tally: Tally): State {
  if (act.do === 'wait') {
    const after = { ...before, now: before.now + act.seconds };
    machine.become(after);
    return after;
  }
  const instructions = instructionsOf(cast, before, act);
  const { broken, after, steps } = expected(cast, before, instructions);
  const result = machine.send(instructions);
  const fail = (why: string): never => {
    throw new Error(`${why}: ${textOf(act)} gave ${result}; broken: ${broken.join(', ') || 'nothing'}`);
  };

  if ((result === 'ok') !== (broken.length === 0)) fail('done or refused against the rules');
  if (typeof result === 'number' && !broken.includes('elsewhere') && !names(broken, result))
    fail('refused for a reason that is none');
  if (typeof result === 'string' && result !== 'ok' && !broken.some((each) => each === 'rent' || each === 'elsewhere'))
    fail('ended by the runtime');
  const touched = new Set(instructions.flatMap(({ accounts = [] }) => accounts.map(({ address }) => address)));
  const [wrong] = machine.differing(
    after,
    [...touched].filter((each) => after.entries.has(each) || before.entries.has(each)),
  );
  if (wrong) fail(`${wrong} was ${shown(entryAt(before, wrong))} and is not ${shown(entryAt(after, wrong))}`);
  for (const [index, instruction] of broken.length > 0 ? [] : instructions.entries()) {
    const promise = brokenPromise(cast, instruction, steps[index] ?? before, steps[index + 1] ?? after);
    if (promise) fail(promise);
  }
  if (machine.feesPaid() !== feeOf(cast.bank, instructions)) fail('the fee is not the network fee');
  machine.follow(after);

  const flaw = 'flaw' in act && act.flaw ? ' with a flaw' : '';
  count(tally, `${act.do}${flaw} ${result === 'ok' ? 'done' : 'refused'}`);
  if (result !== 'ok') count(tally, `refused: ${refusalIn(result, broken)}`);
  return after;
}

const refusalIn = (result: number | string, broken: Expected['broken']): string =>
  broken.find((each) => typeof result === 'number' && names([each], result)) ?? broken[0] ?? '';

function names(broken: Expected['broken'], code: number): boolean {
  return broken.some(
    (each) => each !== 'elsewhere' && each !== 'rent' && code === (isBelow(each) ? BELOW[each] : codeOf(each)),
  );
}
