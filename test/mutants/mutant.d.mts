/** A deliberate bug: the declaration that it is in, by name, and one change of it (KINDS in mutant.mjs). */
export interface Mutant {
  /** What goes wrong, as a sentence. */
  readonly name: string;
  /** The folder below `src`. */
  readonly in: string;
  /** A function or constant there; `outer inner` is one within another. */
  readonly of: string;
  readonly [change: string]: unknown;
  /** The files of tests that have to catch it, the narrowest first. */
  readonly by: readonly string[];
}

export const MUTANTS: readonly Mutant[];
export function mutated(mutant: Mutant): { file: string; text: string };
