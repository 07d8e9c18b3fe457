import { UNSAID } from '../../../client/base/index.ts';
import { type ProblemOptions, problem } from '../../../kernel/problems.ts';
import type { Usdc } from '../../../kernel/usdc.ts';
import { listLines, utcTime, type View } from '../../../terminal/index.ts';
import { intentMeant, intentOrChain, isFromChain, recordFromChain, verifyIntent } from '../../paying/index.ts';
import type { Run } from '../../spec/index.ts';
import type { Verification } from './result.ts';
import type * as spec from './spec.ts';

/** Compares the escrow on chain with the intent and the terms agreed to here; exit 6 where they differ. */
export const intentVerify: Run<typeof spec.intentVerify> = async (context, { intentId: given, refundWallet }) => {
  const { terminal, session } = context;
  const intentId = await intentMeant(context, given, 'newest');
  const said = await intentOrChain(context, intentId);
  const intent = isFromChain(said) ? recordFromChain(said) : said;
  terminal.phase('Reading the escrow from the cluster');
  const checks = await verifyIntent(session, intent, refundWallet ?? null);
  const verified = checks.length > 0 && checks.every((check) => check.ok);
  const document: Verification = {
    intent_id: intent.intent_id,
    verified,
    ...(isFromChain(said) && { source: said.source }),
    escrow: intent.escrow.address,
    checks: [...checks],
  };
  // Under --json there is only one document: for a mismatch, the error with the checks.
  if (verified || !terminal.settings.json) terminal.result(document, verificationView);
  if (verified) return 0;
  const failed = checks.filter((check) => !check.ok).map((check) => check.check);
  throw problem('escrow_mismatch', {
    ...wordsFor(checks),
    detail: { intent_id: intentId, failed, checks: [...checks] },
  });
};

function wordsFor(checks: Verification['checks']): ProblemOptions {
  const [program] = checks;
  if (checks.length === 1 && program) {
    return {
      message:
        program.found === UNSAID
          ? 'The record names no program for its escrow: it cannot be verified on chain.'
          : 'The escrow belongs to a program that this tool does not know: it cannot be verified on chain.',
      fix: 'You only have the service’s word for it.',
    };
  }
  const owner = checks.find((one) => one.check === 'refund_owner' && !one.ok);
  if (!owner) return {};
  return {
    message: `Refunds of this escrow go to ${owner.found}: neither this wallet nor one that was named here.`,
    fix: 'Do not pay it, unless you know whose wallet that is.',
  };
}

const verificationView: View<Verification> = {
  lines: ({ escrow, checks, verified }, { paint }) => [
    `${paint.bold(escrow)}  ${verified ? paint.good('matches the intent') : paint.bad('does not match the intent')}`,
    ...listLines({ paint }, checks, [
      { title: ' ', cell: ({ ok }) => (ok ? paint.good('✓') : paint.bad('✗')) },
      { title: 'Check', cell: ({ check }) => check.replaceAll('_', ' ') },
      { title: 'On chain', cell: ({ check, found }) => worded(check, found, paint.usdc) },
      {
        title: verified ? '' : 'Expected',
        cell: ({ check, ok, expected }) => (ok ? '' : worded(check, expected, paint.usdc)),
      },
    ]),
  ],
  rows: ({ checks }) =>
    checks.map(({ check, expected, found, ok }) => [ok ? 'ok' : 'mismatch', check, expected, found]),
};

/** Writes amounts and instants for a person; the rest stays as it is. */
function worded(check: string, value: string, usdc: Usdc): string {
  return value.replace(/\d+/g, (number) => {
    if (check === 'amount' || check === 'held') return usdc(BigInt(number));
    return check === 'refund_after' ? utcTime(new Date(Number(number) * 1000).toISOString()) : number;
  });
}
