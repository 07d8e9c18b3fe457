import type { Environment } from '../spec/globals.ts';
import type { Candidate } from './candidate.ts';
import type { Position } from './position.ts';

/** Where the command line would run. */
export interface Place {
  readonly environment: Environment;
  /** Where the search for a project file begins; the working folder unless it is named. */
  readonly folder?: string | undefined;
}

export type Source = (at: Position, home: string, place: Place) => Promise<readonly Candidate[]>;
