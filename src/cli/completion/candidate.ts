/** Something that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  /** A description, for shells that show one; may be empty. */
  readonly words: string;
}

/** Stands for the names of files. */
export const FILES: Candidate = { value: ':files', words: '' };
