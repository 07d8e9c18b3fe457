import type { Allowance } from '../../client/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Streams } from '../screen/streams.ts';
import type { Terminal } from '../screen/terminal.ts';
import type { Session } from '../session/session.ts';

/** Options that every command takes (CONTRACT, section 14). */
export interface GlobalOptions {
  readonly profile?: string;
  readonly keypair?: string;
  /** true: the whole document; text: the chosen fields. */
  readonly json?: true | string;
  readonly yes?: true;
  readonly input: boolean;
  readonly dryRun?: true;
  /** Atomic USDC. */
  readonly maxPayment?: bigint;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
  /** false: long results are printed as they are. */
  readonly pager?: boolean;
}

/** 0 done, 8 ended and not as asked, 130 interrupted with a result; every other code comes from a problem. */
export type ExitCode = 0 | 8 | 130;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command is given. Everything in the session is opened when it is first asked for. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly session: Session;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly environment: Environment;
  /** The working folder, unless it is the process's own. */
  readonly folder?: string | undefined;
  readonly globals: GlobalOptions;
  /** What the program that drives the tool may spend; absent: a person drives it. */
  readonly allowance?: Allowance | undefined;
  /** Aborted by Ctrl-C and by --timeout; its reason is the problem to end with. */
  readonly signal: AbortSignal;
}

export type Command<O> = (context: CommandContext, options: O) => Promise<ExitCode>;
