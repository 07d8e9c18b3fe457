import type { Argument, Command as Commander, Option } from 'commander';
import type { Streams } from '../../terminal/index.ts';
import type { Environment } from '../settings/index.ts';

export interface Candidate {
  readonly value: string;
  /** A description, for shells that show one, or empty. */
  readonly words: string;
}

/** Lets the shell complete file names. */
export const FILES: Candidate = { value: ':files', words: '' };

/** The environment of the command that is being completed. */
export interface Place {
  readonly environment: Environment;
  /** The folder where the search for a project file starts; by default the working folder. */
  readonly folder?: string | undefined;
  /** Names the terminal: row numbers are those of its last list. */
  readonly streams?: Pick<Streams, 'place'>;
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
  /** The option whose value is being typed. */
  readonly option: Option | null;
  /** The part of the word before the value: `--cabin=`, else empty. */
  readonly prefix: string;
  /** The argument being typed. */
  readonly argument: Argument | null;
  /** The arguments before the cursor. */
  readonly arguments: readonly string[];
  /** Values of the options before the cursor, by their long name: `--profile`. */
  readonly values: ReadonlyMap<string, string>;
  /** True after `--`: only arguments follow. */
  readonly isAfterDashes: boolean;
}
