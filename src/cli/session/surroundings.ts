import type { Allowance } from '../../client/base/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Streams, Terminal } from '../../terminal/index.ts';
import type { Environment, GlobalOptions } from '../settings/index.ts';
import type { PartnerAccess } from './partner-access.ts';
import type { Session } from './session.ts';

/** Everything that a command receives. Each part of the session is opened on its first use. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly session: Session;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly environment: Environment;
  /** The working folder, unless it is the process's own. */
  readonly folder?: string | undefined;
  readonly globals: GlobalOptions;
  /** The allowance of the program that drives the tool; absent if a person does. */
  readonly allowance?: Allowance | undefined;
  /** Aborted by Ctrl-C and by --timeout; its reason is the problem to end with. */
  readonly signal: AbortSignal;
}

/** Asks for a text. @throws Problem `input_required` naming the option that gives it */
export const askText = (
  { terminal }: Pick<Surroundings, 'terminal'>,
  option: string,
  question: string,
  most = Number.POSITIVE_INFINITY,
): Promise<string> =>
  terminal
    .ask(option)
    .text(question, async (typed) =>
      typed === '' ? 'Type something.' : typed.length > most ? `At most ${most} characters.` : null,
    );

/**
 * Asks before a change with a live key, unless --live or --yes confirms it. A demo key needs no confirmation.
 * @throws Problem `declined`, `input_required`
 */
export async function confirmLive(
  { terminal, globals }: Surroundings,
  access: PartnerAccess,
  isMeant: boolean,
  question: string,
): Promise<void> {
  if (isMeant || globals.yes || (await access.environment()) === 'demo') return;
  if (!(await terminal.ask('--live').confirm(`${question} This is the live environment.`, false))) {
    throw problem('declined');
  }
}
