/** What a run of tests that is not green says of the bug in it. */
export interface Verdict {
  readonly by: string;
  /** A test failed by itself: the bug was caught. */
  readonly counts: boolean;
}

export function runTests(folder: string, files: readonly string[], mostMs: number): Promise<Verdict | null>;
