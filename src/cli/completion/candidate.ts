/** Something that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  /** What it is, for shells that show it; may be empty. */
  readonly words: string;
}

/** Stands for the names of files. */
export const FILES: Candidate = { value: ':files', words: '' };
