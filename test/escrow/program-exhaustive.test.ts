import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { rounds } from '../rounds.ts';
import { type Act, textOf } from './model/acts.ts';
import { createCast } from './model/cast.ts';
import { openMachine } from './model/machine.ts';
import { play, type Tally } from './model/play.ts';
import { fingerprint, type State } from './model/state.ts';
import { DAY } from './program-world.ts';

/**
 * Every sequence of up to six acts of an operator, a traveller and a stranger over two escrows, with nothing left to
 * chance. Every instruction is among them, by everybody for whom it makes a difference. What an act does depends on the
 * accounts and the clock alone, so that each is tried once in each state: that covers all sequences that lead there.
 */

const AMOUNT = 2n;
const PARTIES = ['authority', 'traveller', 'stranger'] as const;

const actsOn = (which: number): Act[] => [
  { do: 'open', which, by: 'authority', amount: AMOUNT, dueIn: DAY },
  { do: 'open', which, by: 'stranger', amount: AMOUNT, dueIn: DAY, terms: 'theirs' },
  { do: 'makeVault', which, by: 'stranger' },
  { do: 'pay', which, by: 'traveller', amount: AMOUNT },
  { do: 'pay', which, by: 'traveller', amount: 1n },
  ...(['capture', 'captureAndLeave', 'refund', 'close'] as const).flatMap((name) =>
    PARTIES.map((by): Act => ({ do: name, which, by })),
  ),
  ...(['refundByAnyone', 'sweep', 'recover'] as const).map((name): Act => ({ do: name, which, by: 'stranger' })),
];
const ALPHABET: readonly Act[] = [
  ...actsOn(0),
  ...actsOn(1),
  { do: 'wait', seconds: DAY },
  { do: 'wait', seconds: 30n * DAY },
];

test('every short sequence over two escrows does what the rules say', async () => {
  const cast = await createCast();
  const machine = openMachine(cast);
  const tally: Tally = new Map();
  const digest = (state: State) => createHash('sha1').update(fingerprint(state, cast.initial)).digest('base64');
  const depth = rounds(3, 6) > 3 ? 6 : 3;
  const seen = new Set([digest(cast.initial)]);
  const lines: string[] = [];
  let [front, sequences, tries]: [State[], bigint, number] = [[cast.initial], 0n, 0];
  for (let length = 1; length <= depth; length++) {
    const next: State[] = [];
    for (const state of front) {
      machine.become(state);
      for (const act of ALPHABET) {
        const after = play(cast, machine, state, act, tally);
        tries++;
        if (after === state) continue;
        const key = digest(after);
        if (!seen.has(key)) {
          seen.add(key);
          if (length < depth) next.push(after);
        }
        machine.become(state);
      }
    }
    sequences += BigInt(ALPHABET.length) ** BigInt(length);
    lines.push(`up to ${length}: ${sequences} sequences, ${seen.size} states, ${tries} acts tried`);
    front = next;
  }
  if (depth > 3) process.stdout.write(`${ALPHABET.length} acts\n${lines.join('\n')}\n`);
  // Each of the alphabet's instructions was also done, by one of the parties at least.
  const done = new Set(ALPHABET.map((act) => act.do));
  done.delete('wait');
  const late = depth > 3 ? [] : ['sweep', 'close', 'recover'];
  expect([...done].filter((name) => !tally.has(`${name} done`) && !late.includes(name))).toEqual([]);
  expect(new Set(ALPHABET.map(textOf)).size).toBe(ALPHABET.length);
});
