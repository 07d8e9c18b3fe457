import { didYouMean, nearest } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { fieldLines } from '../../../terminal/table.ts';
import type { View } from '../../../terminal/terminal.ts';
import type { Command } from '../../spec/command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { type Explanation, explainedCodes, explanationOf } from './explained.ts';

interface ExplainOptions {
  readonly code: string;
}

/**
 * Explains an error code, and what to do: of either service, of the tool, or of Connect.
 * @throws Problem `not_found` naming the codes that are nearly that
 */
export const explain: Command<ExplainOptions> = async ({ terminal }, { code }) => {
  const wanted = code
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, '_');
  const found = explanationOf(wanted);
  if (!found) {
    const near = nearest(wanted, explainedCodes(), 5);
    throw problem('not_found', {
      message: `There is no error code "${code}".`,
      fix: didYouMean(wanted, explainedCodes(), 5) || 'Give the code of an error, such as offer_expired.',
      next: near.map((known) => `farelock explain ${known}`),
    });
  }
  terminal.result(found, explanationView);
  return 0;
};

const explanationView: View<Explanation> = {
  lines: (explanation, { paint }) => [
    paint.bold(explanation.code),
    explanation.message,
    explanation.fix,
    '',
    ...fieldLines(
      [
        ['HTTP status', explanation.status === null ? null : String(explanation.status)],
        ['Exit code', `${explanation.exit}: ${EXIT_CODES[explanation.exit].replaceAll('`', '')}`],
        ['Try again', explanation.retryable ? 'yes, the same command' : 'no, something must change first'],
      ],
      paint.dim,
    ),
  ],
};
