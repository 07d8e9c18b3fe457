import { isProblemCode, PROBLEMS, type ProblemKind, problem } from '../../kernel/problems.ts';
import type { Command } from '../context.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import type { View } from '../terminal.ts';
import { fieldLines } from '../view/table.ts';

export interface ExplainOptions {
  readonly code: string;
}

interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly status: number | null;
  readonly exit: ProblemKind['exit'];
  readonly retryable: boolean;
}

/** One entry of the catalogue of problems: what it means, and what to do. */
export const explain: Command<ExplainOptions> = async ({ terminal }, { code }) => {
  const wanted = code.trim().toLowerCase().replaceAll('-', '_');
  if (!isProblemCode(wanted)) {
    const near = Object.keys(PROBLEMS).filter((known) => known.includes(wanted) && wanted.length > 2);
    throw problem('not_found', {
      message: `There is no error code "${code}".`,
      fix:
        near.length > 0 ? 'Did you mean one of these?' : 'Give the code of an error, such as offer_expired.',
      next: near.slice(0, 5).map((known) => `farelock explain ${known}`),
    });
  }
  const kind: ProblemKind = PROBLEMS[wanted];
  terminal.result(
    {
      code: wanted,
      message: kind.message,
      fix: kind.fix,
      status: kind.status ?? null,
      exit: kind.exit,
      retryable: kind.retryable === true,
    },
    explanationView,
  );
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
