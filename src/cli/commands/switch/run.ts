import type { Switches } from '../../../flights/wire.ts';
import { problem } from '../../../kernel/problems.ts';
import type { View } from '../../screen/terminal.ts';
import type { Command } from '../../spec/command.ts';
import { fieldLines } from '../../view/table.ts';

interface SwitchOptions {
  readonly name?: 'booking' | 'lowcost';
  readonly state?: 'on' | 'off';
}

const STOPS = {
  booking: 'new intents and bookings are refused with booking_disabled',
  lowcost: 'new intents on lowcost offers are refused with lowcost_booking_unavailable',
} as const;

/** Shows both switches, or turns one, after saying what that stops. What is under way goes on. */
export const turnSwitch: Command<SwitchOptions> = async ({ terminal, session, globals, signal }, given) => {
  const { name, state } = given;
  const operator = await session.operator();
  if (name === undefined || state === undefined) {
    if (name !== undefined) {
      throw problem('usage', {
        message: `Turn ${name} to what?`,
        fix: `farelock switch ${name} on, or off.`,
      });
    }
    terminal.result(await operator.switches({ signal }), view);
    return 0;
  }
  if (globals.dryRun) {
    terminal.result({ ...(await operator.switches({ signal })), [name]: state, dry_run: true }, view);
    return 0;
  }
  if (!globals.yes) {
    const prompts = terminal.ask('--yes');
    if (state === 'off') terminal.note(`With ${name} off, ${STOPS[name]}; what is under way goes on.`);
    if (!(await prompts.confirm(`Turn ${name} ${state}?`, false))) {
      throw problem('payment_declined', {
        message: 'The switch was left alone.',
        fix: 'Nothing was changed.',
      });
    }
  }
  terminal.result(await operator.turn({ [name]: state }, { signal }), view);
  return 0;
};

const view: View<Switches> = {
  lines: (switches, { paint }) =>
    fieldLines(
      (['booking', 'lowcost'] as const).map(
        (name) => [name, switches[name] === 'on' ? paint.good('on') : paint.bad('off')] as const,
      ),
      paint.dim,
    ),
};
