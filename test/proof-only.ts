import { describe, test } from 'vitest';
import { isProof } from './rounds.ts';

/** Takes a declaration and declares nothing: what it stands for is neither played nor counted as skipped. */
const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });

/** A test of `npm run proof` alone, beside tests of the gate. A file of such tests alone is called `*.proof.ts`. */
export const proofTest = isProof ? test : (nothing as typeof test);

export const proofDescribe = isProof ? describe : (nothing as typeof describe);

/** Cases of one kind for `each`: the gate plays the first ones, the proof all of them. */
export const cases = <Case>(inGate: readonly Case[], more: readonly Case[]): Case[] =>
  isProof ? [...inGate, ...more] : [...inGate];
