/** A rule's verdict on a text: its normal form, or what is wrong with it. Never the text itself. */
export type Verdict = { readonly normal: string } | { readonly wrong: string };

export const normal = (text: string): Verdict => ({ normal: text });
export const wrong = (message: string): Verdict => ({ wrong: message });
export const isWrong = (verdict: Verdict): verdict is { readonly wrong: string } => 'wrong' in verdict;

/** Where every byte is zero there is no key, in any chain's encoding. */
export const NOBODY = wrong('is an address that nobody owns.');
export const isAllZeros = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

export interface DataIssue {
  /** Dotted from the key of the kind: `bankAccount.iban.bic`; empty for the object as a whole. */
  readonly path: string;
  /** A sentence that reads after the field's name. */
  readonly message: string;
}

/** Where the checks of one item of customer data put what they find. */
export interface Findings {
  readonly issues: readonly DataIssue[];
  wrong(path: string, message: string): void;
  /** The normal form; an empty text after a refusal, which nobody reads since the item is refused. */
  take(path: string, verdict: Verdict): string;
}

export function findings(): Findings {
  const issues: DataIssue[] = [];
  return {
    issues,
    wrong(path, message) {
      issues.push({ path, message });
    },
    take(path, verdict) {
      if (!isWrong(verdict)) return verdict.normal;
      issues.push({ path, message: verdict.wrong });
      return '';
    },
  };
}

/** Facts that the rules need besides the data itself. */
export interface DataContext {
  readonly nowMs: number;
  /** Accepts addresses of test networks; a live service never does. */
  readonly testNetworks?: boolean;
}

/** YYYY-MM-DD, UTC. */
export const todayOf = (context: DataContext): string => new Date(context.nowMs).toISOString().slice(0, 10);
