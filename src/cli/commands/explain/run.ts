import { didYouMean, nearest } from '../../../kernel/nearest.ts';
import { type ProblemKind, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fieldLines, type View } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import { explainedCodes, explanationOf } from './index.ts';
import type * as spec from './spec.ts';

/** The meaning of each exit code (CONTRACT, section 15), for the page about errors too. */
export const EXIT_CODES: Readonly<Record<0 | ProblemKind['exit'], string>> = {
  0: 'done, including an empty list',
  1: 'unexpected failure',
  2: 'usage: unknown option, missing value, a question that was needed under `--no-input`',
  3: 'not found',
  4: 'not allowed: key, token, support code, keypair file',
  5: 'conflict: state, expired, repriced',
  6: 'payment: refused by policy, too little money, verification failed',
  7: 'network, timeout, upstream: worth trying again',
  8: 'it ended differently than asked: the booking was refunded, the order failed',
  130: 'interrupted; says how to continue',
};

/** @throws Problem `not_found` naming similar codes */
export const explain: Run<typeof spec.explain> = async ({ terminal }, { code }) => {
  const wanted = code
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, '_');
  const found = explanationOf(wanted);
  if (!found) {
    const near = nearest(wanted, explainedCodes(), 5);
    throw problem('not_found', {
      message: `There is no error code "${code}".`,
      fix: didYouMean(wanted, explainedCodes(), 5) || 'Use the code of an error, such as offer_expired.',
      next: near.map((known) => farelock`explain ${known}`),
    });
  }
  terminal.result(found, explanationView);
  return 0;
};

const explanationView: View<NonNullable<ReturnType<typeof explanationOf>>> = {
  lines: (explanation, { paint }) => [
    paint.bold(explanation.code),
    explanation.message,
    explanation.fix,
    '',
    ...fieldLines(paint.dim, [
      ['HTTP status', explanation.status === null ? null : String(explanation.status)],
      ['Exit code', `${explanation.exit}: ${EXIT_CODES[explanation.exit].replaceAll('`', '')}`],
      ['Try again', explanation.retryable ? 'yes, the same command' : 'no, something must change first'],
    ]),
  ],
};
