import connectCodes from '../../../kernel/domain/connect-codes.json' with { type: 'json' };
import { fixOf, PROBLEMS, type ProblemKind } from '../../../kernel/problems.ts';

/** Connect's codes, which the partner service sends along with our own reason (CONTRACT, section 10). */
const CONNECT_CODE_TABLE = connectCodes as Readonly<Record<string, ProblemKind>>;

/** The codes of both services, of the tool and of Connect. */
export const explainedCodes = (): string[] => Object.keys({ ...PROBLEMS, ...CONNECT_CODE_TABLE });

const STEPS: Readonly<Record<string, string>> = { '<search>': 'help search', '<wallet>': 'wallet new' };

/** The command of a step in the catalogue; null where it depends on the failed command. */
function commandOf(step: string): string | null {
  const words = STEPS[step] ?? step;
  return /[<{]/.test(words) ? null : `farelock ${words}`;
}

/** Explains a code; null for an unknown one. A code that is both ours and Connect's is ours. */
export function explanationOf(code: string) {
  const kind: ProblemKind | undefined = new Map(Object.entries({ ...CONNECT_CODE_TABLE, ...PROBLEMS })).get(code);
  if (!kind) return null;
  return {
    code,
    message: kind.message,
    fix: fixOf(kind),
    status: kind.status ?? null,
    exit: kind.exit,
    retryable: kind.retryable === true,
    next: (kind.next ?? []).flatMap((step) => commandOf(step) ?? []),
  };
}
