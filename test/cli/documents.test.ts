import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/cli/spec/command.ts';
import { readPassengers } from '../../src/cli/travellers/index.ts';
import type { Prompts } from '../../src/terminal/streams.ts';
import { worldClock } from '../clock.ts';
import { ANA } from './memory.ts';

/** Travel documents, which lowcost carriers want (spec/flight-service.md, POST /air/book, 2). */
const PASSPORT = { nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2031-05-01' };
const rules = { count: 1, departureDate: '2026-12-20', documentsRequired: true, today: '2026-11-21' };

const LOCK = { intent_id: 'int_1', expires_at: '2026-11-21T10:00:00Z' };

const contextWith = (stdin: string, prompts?: Prompts) =>
  ({
    streams: { stdin: { isTTY: prompts !== undefined, text: async () => stdin } },
    terminal: { ask: () => prompts, note: () => undefined },
    session: { store: async () => ({ typed: async () => [], keepTyped: async () => undefined }) },
    clock: worldClock,
  }) as unknown as CommandContext;

const read = (passenger: object, documentsRequired = true) =>
  readPassengers(
    contextWith(JSON.stringify([passenger])),
    { passengers: '-', intent: LOCK },
    { ...rules, documentsRequired },
  );

test('a passenger file without documents is refused, each missing one named', async () => {
  await expect(read(ANA)).rejects.toMatchObject({
    code: 'passengers_invalid',
    detail: {
      issues: Object.keys(PASSPORT).map((field) => ({ path: `passengers.0.${field}`, message: 'is missing.' })),
    },
  });
  expect(await read({ ...ANA, ...PASSPORT })).toHaveLength(1);
  expect(await read(ANA, false)).toHaveLength(1);
});

test('an expired passport is refused', async () => {
  await expect(read({ ...ANA, ...PASSPORT, passport_expiry: '2026-11-21' })).rejects.toMatchObject({
    detail: { issues: [{ path: 'passengers.0.passport_expiry', message: 'has expired.' }] },
  });
});

test('a person is asked for them, and again until they are right', async () => {
  const asked: string[] = [];
  const answers: Record<string, string[]> = {
    Nationality: ['Portugal', 'PT'],
    'Passport number': ['CB123456'],
    'Passport valid': ['2020-01-01', '2031-05-01'],
    Given: ['Ana'],
    Family: ['Moreira'],
    'Date of birth': ['1990-04-12'],
    'E-mail': ['ana@example.com'],
    Phone: ['+351912345678'],
  };
  const prompts: Prompts = {
    confirm: async () => true,
    async text(message, check) {
      asked.push(message);
      const list = Object.entries(answers).find(([start]) => message.startsWith(start))?.[1] ?? [];
      for (const answer of list) if ((await check(answer)) === null) return answer;
      throw new Error(message);
    },
    choose: async (_message, choices) => {
      const [first] = choices;
      if (!first) throw new Error('nothing to choose');
      return first.value;
    },
    steps: async () => {
      throw new Error('no steps');
    },
  };
  const [passenger] = await readPassengers(contextWith('', prompts), { intent: LOCK }, rules);
  expect(passenger).toMatchObject(PASSPORT);
  expect(asked.slice(-3)).toEqual([
    'Nationality, such as Portugal or PT',
    'Passport number',
    'Passport valid until, such as 9 Jun 2031',
  ]);
});
