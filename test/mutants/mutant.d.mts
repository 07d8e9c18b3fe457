/** A deliberate bug: a text of the source, and what replaces it. */
export interface Mutant {
  /** What goes wrong, as a sentence: it has to be new. */
  readonly name: string;
  readonly file: string;
  /** Is in the file exactly once. */
  readonly from?: string;
  readonly to?: string;
  /** Several replacements that are one bug together, instead of one. */
  readonly edits?: readonly (readonly [from: string, to: string])[];
  /** The files of tests that have to catch it, the narrowest first. */
  readonly by: readonly string[];
}

export const MUTANTS: readonly Mutant[];
export function editsOf(mutant: Mutant): readonly (readonly [from: string, to: string])[];
export function mutated(root: URL, mutant: Mutant): string;
