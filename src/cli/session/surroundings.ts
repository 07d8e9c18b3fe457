import type { Allowance } from '../../client/base/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Streams, Terminal } from '../../terminal/index.ts';
import type { Environment, GlobalOptions } from '../settings/index.ts';
import type { Session } from './session.ts';

/** What a command runs in. Everything in the session is opened when it is first asked for. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly session: Session;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly environment: Environment;
  /** The working folder, unless it is the process's own. */
  readonly folder?: string | undefined;
  readonly globals: GlobalOptions;
  /** The allowance of the program that drives the tool; absent: a person drives it. */
  readonly allowance?: Allowance | undefined;
  /** Aborted by Ctrl-C and by --timeout; its reason is the problem to end with. */
  readonly signal: AbortSignal;
}
