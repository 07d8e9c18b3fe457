import type { Argument, Command as Commander, Option } from 'commander';
import type { Environment } from '../settings/index.ts';

/** Something that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  /** A description, for shells that show one; may be empty. */
  readonly words: string;
}

/** Stands for the names of files. */
export const FILES: Candidate = { value: ':files', words: '' };

/** Where the command line would run. */
export interface Place {
  readonly environment: Environment;
  /** Where the search for a project file begins; the working folder unless it is named. */
  readonly folder?: string | undefined;
}

export type Source = (at: Position, home: string, place: Place) => Promise<readonly Candidate[]>;

/** The place of the cursor in a command line. */
export interface Position {
  /** The command that the words lead to: the tool itself, a group, or a command. */
  readonly command: Commander;
  /** `intent create`, empty for the tool itself. */
  readonly path: string;
  /** The word being typed; empty after a space. */
  readonly word: string;
  /** The option whose value is being typed, else null. */
  readonly option: Option | null;
  /** The part of the word before the value: `--cabin=`, else empty. */
  readonly prefix: string;
  /** The argument that is being typed, else null. */
  readonly argument: Argument | null;
  /** The arguments before the one that is being typed. */
  readonly arguments: readonly string[];
  /** Values of the options before the cursor, by their long name: `--profile`. */
  readonly values: ReadonlyMap<string, string>;
  /** Only arguments can follow: `--` came before. */
  readonly isAfterDashes: boolean;
}
