import type { FlightsClient } from '../../client/index.ts';
import { type PaymentPlan, PaymentPlanned } from '../../client/payer/index.ts';
import { type Text, textOf } from '../../kernel/problems.ts';
import { fieldLines, harmless, momentText, type Screen } from '../../terminal/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { DRY_RUN, money } from '../view/index.ts';

/**
 * Prints the plan of a paid command for `--dry-run`: sends the call without a payment, decodes the challenge that comes
 * back, and shows everything that would be signed. The client of a dry run has no key (client/payer/plan.ts).
 */
export async function planPaid(
  context: CommandContext,
  call: (flights: FlightsClient) => Promise<unknown>,
  parts: {
    readonly before?: readonly Text[];
    readonly after: readonly Text[];
    readonly facts: Record<string, unknown>;
    /** Lines about the purchase, above the steps. */
    readonly review?: (screen: Screen) => readonly string[];
  },
): Promise<0> {
  const { terminal, session, clock } = context;
  terminal.phase('Asking what it costs');
  const payment = await call(await session.flights()).then(
    () => null,
    (error: unknown) => {
      if (error instanceof PaymentPlanned) return error.plan;
      throw error;
    },
  );
  const sign: Text = payment
    ? (usdc) => `Sign ${usdc(money(payment.amount))} for ${payment.resource} at ${payment.host}.`
    : 'Nothing: the service answered without asking for a payment.';
  const plan = [...(parts.before ?? []), sign, ...parts.after];
  terminal.result(
    { dry_run: true, plan: plan.map((step) => textOf(step)), ...parts.facts, payment },
    {
      lines: (document, screen) => [
        ...(parts.review ? [...parts.review(screen), ''] : []),
        screen.paint.bold(DRY_RUN),
        ...plan.flatMap((step, index) => [
          `  ${index + 1}. ${harmless(textOf(step, screen.paint.usdc))}`,
          ...(document.payment && step === sign
            ? paymentPlanLines(document.payment, clock.now(), screen).map((one) => `     ${one}`)
            : []),
        ]),
      ],
    },
  );
  return 0;
}

const paymentPlanLines = (plan: PaymentPlan, nowMs: number, { paint }: Screen): string[] =>
  fieldLines(paint.dim, [
    ['Amount', paint.usdc(money(plan.amount))],
    ['To', plan.pay_to],
    ['Coin', plan.asset],
    ['Network', plan.network],
    ['Memo', plan.memo ?? 'a random one'],
    ['Fee payer', plan.fee_payer],
    ['Wallet', plan.wallet ?? 'none yet'],
    ['Expires', plan.expires_at && momentText(plan.expires_at, nowMs)],
    ['Allowed', DECISIONS[plan.decision]],
    ['Why', plan.reason?.message],
  ]);

const DECISIONS = {
  sign: 'yes, within the limits',
  ask: 'you would be asked',
  refuse: 'no',
  resend: 'already signed, not answered: the same payment would be sent again',
  kept: 'already paid: its answer, which was never shown, would be shown',
} as const;
