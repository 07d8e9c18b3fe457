import { describe, expect, test } from 'vitest';
import { REASONS } from '../../../src/payments/auth-capture-terms.ts';
import { proofTest } from '../../proof-only.ts';
import { createMachine, played, readVectors } from './vector-chain.ts';
import { madeVectors } from './vectors.ts';

const FILE = '../../../docs/vectors/auth-capture-svm.json';

proofTest('the vectors are made of fixed seeds: the file is what they make', async () => {
  const { vectors, ...head } = await madeVectors();
  const lines = vectors.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  const text = `${JSON.stringify(head, null, 2).replace(/\n}$/, ',')}\n  "vectors": [\n${lines}\n  ]\n}\n`;
  await expect(text).toMatchFileSnapshot(FILE);
});

test('every code has a vector, and every operation an accepted one', () => {
  const { vectors } = readVectors();
  expect(vectors.length).toBeGreaterThanOrEqual(40);
  const refused = new Set(vectors.map((one) => one.expect.reason?.replace('invalid_auth_capture_svm_', '')));
  expect([...refused].filter(Boolean).sort()).toEqual([...REASONS].sort());
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
});

describe('our facilitator', () => {
  const { vectors, ...head } = readVectors();
  const machine = createMachine(head);
  test.each(vectors.map((one) => [one.name, one] as const))('%s', async (_name, vector) => {
    const { reason, amount, extra, tokensAfter } = vector.expect;
    const now = await played(machine, head, vector, Object.keys(tokensAfter));
    for (const answer of now.answers) expect(answer.reason).toBe(reason);
    expect(now.tokensAfter).toEqual(tokensAfter);
    if (reason === null) expect(now.answers.at(-1)).toEqual({ reason, amount, extra });
    // No unit appears or goes: and a refusal moves nothing.
    const sum = (amounts: readonly (string | null)[]) => amounts.reduce((total, one) => total + BigInt(one ?? 0), 0n);
    expect(sum(Object.values(tokensAfter))).toBe(sum(vector.tokens.map((one) => one.amount)));
    if (reason !== null)
      for (const { address, amount: before } of vector.tokens) expect(tokensAfter[address]).toBe(before);
  });
});
