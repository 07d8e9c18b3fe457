import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fieldLines, type View, wrap, wrapBehind } from '../../../terminal/index.ts';
import type { Switches } from '../../../wire/flights/index.ts';
import type { Run } from '../../spec/index.ts';
import { DRY_RUN, nextLines, stepLines } from '../../view/index.ts';
import type * as spec from './spec.ts';

const STOPS = {
  booking: 'new intents and bookings are refused (booking_disabled); bookings in progress continue',
  lowcost: 'new intents on low-cost offers are refused (lowcost_booking_unavailable); bookings in progress continue',
} as const;

const ALLOWS = {
  booking: 'new intents and bookings are accepted again',
  lowcost: 'new intents on low-cost offers are accepted again',
} as const;

/** Says the effect before it turns a switch. Work in progress continues. */
export const turnSwitch: Run<typeof spec.turnSwitch> = async ({ terminal, session, globals, signal }, given) => {
  const { name, state } = given;
  const operator = await session.operator();
  if (name === undefined || state === undefined) {
    if (name !== undefined) {
      throw problem('usage', { message: `Turn ${name} on or off?`, fix: `farelock switch ${name} on, or off.` });
    }
    terminal.result(await operator.switches({ signal }), view);
    return 0;
  }
  const now = await operator.switches({ signal });
  const effect = (state === 'off' ? STOPS : ALLOWS)[name];
  if (globals.dryRun) {
    terminal.result(
      { ...now, [name]: state, dry_run: true },
      {
        lines: (_switches, { paint, width }) =>
          now[name] === state
            ? [`Nothing would change: ${name} is ${state} already.`]
            : [
                paint.bold(DRY_RUN),
                ...stepLines([`Turn ${name} ${state}, which is ${now[name]} now: ${effect}.`], width),
              ],
      },
    );
    return 0;
  }
  const isMoot = now[name] === state && terminal.canAsk;
  if (!globals.yes && !isMoot) {
    const prompts = terminal.ask('--yes');
    terminal.review(wrap(`With ${name} ${state}, ${effect}.`, terminal.asideScreen.width));
    if (!(await prompts.confirm(`Turn ${name} ${state}?`, false))) {
      const next = [farelock`switch`];
      throw problem('payment_declined', { message: 'Switch not changed.', fix: 'Nothing changed.', next });
    }
  }
  terminal.result(await operator.turn({ [name]: state }, { signal }), {
    lines: (_switches, { paint, width }) =>
      wrapBehind(
        `${paint.good('✓')} `,
        `${name} is ${state}${now[name] === state ? ' already' : `: ${effect}`}.`,
        width,
      ),
  });
  if (state === 'off') terminal.aside(['', ...nextLines(`farelock switch ${name} on`)]);
  return 0;
};

const view: View<Switches> = {
  lines: (switches, { paint }) =>
    fieldLines(
      paint.dim,
      (['booking', 'lowcost'] as const).map(
        (name) => [name, switches[name] === 'on' ? paint.good('on') : paint.bad('off')] as const,
      ),
    ),
};
