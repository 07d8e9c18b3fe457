import type { Intent } from '../../flights/wire.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import type { CommandContext } from '../spec/command.ts';
import { whereMoneyIs } from './booking.ts';
import { whereItStands } from './command.ts';

const ANEW = 'farelock demo';

/**
 * What a demo that was cut off ends with: where its play money is, and the commands that look at it. `home` is the
 * folder that was made for it; null where the person has named one.
 */
export async function whereDemoStands(
  context: CommandContext,
  { intent }: { readonly intent: Intent | null },
  error: unknown,
  home: string | null,
): Promise<unknown> {
  const { reason } = context.signal;
  const told = intent
    ? await whereMoneyIs(context, intent, error, ANEW)
    : isProblem(reason) && (!isProblem(error) || isProblem(error, 'interrupted', 'timed_out'))
      ? await whereItStands(
          reason,
          { name: 'demo', effect: 'runs' },
          { argv: ['demo'], invocation: null, session: context.session },
        )
      : error;
  if (!isProblem(told) || told.detail?.money === undefined) return told;
  const looks = told.next.filter((command) => command !== ANEW);
  return problem(told.code, {
    message: `${told.message} All of it is play money.`,
    fix: looks.length > 0 ? 'Look at it, or begin anew.' : 'Begin anew whenever you like.',
    next: [
      ...looks.map((command) => (home === null ? command : `FARELOCK_HOME=${quoted(home)} ${command}`)),
      ANEW,
    ],
    detail: told.detail,
    cause: error,
  });
}
