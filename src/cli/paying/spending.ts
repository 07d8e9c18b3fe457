import type { PaymentRequest, Spender, SpendingPolicy } from '../../client/spending.ts';
import { formatUsdc } from '../../kernel/money.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Profile } from '../session/profile.ts';
import type { GlobalOptions } from '../spec/globals.ts';

interface Person extends Pick<Spender, 'allowance' | 'agreed'> {
  readonly globals: GlobalOptions;
  readonly terminal: Terminal;
}

/** The limits and consents of the person at the keyboard, or of the program that drives the tool. */
export const spenderOf = (
  { globals, terminal, allowance, agreed }: Person,
  { limits, isEmbedded }: Pick<Profile, 'limits' | 'isEmbedded'>,
): Spender => ({
  // The embedded service has no host to be mistaken about.
  limits: isEmbedded ? { ...limits, hosts: null } : limits,
  most: globals.maxPayment,
  saysYes: globals.yes === true,
  canAsk: terminal.canAsk,
  agreed,
  allowance,
});

export const spendingPolicy = (person: Person, profile: Profile): SpendingPolicy => ({
  ...spenderOf(person, profile),
  ask: (request) => askPerson(request, person),
});

async function askPerson(request: PaymentRequest, { terminal, globals }: Person): Promise<boolean> {
  const { resource, host, amount, warning } = request;
  if (warning !== undefined) {
    terminal.note(warning);
    return globals.yes === true || terminal.ask('--yes').confirm('Pay anyway?', false);
  }
  // A booking is agreed to before it is paid, after a review (confirm.ts).
  if (request.kind === 'booking') return false;
  const question = `${resource} at ${host} costs ${formatUsdc(amount)} USDC, more than usual. Pay it?`;
  return terminal.ask('--max-payment <usdc>').confirm(question, false);
}
