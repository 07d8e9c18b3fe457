/** Options that every command takes (CONTRACT, section 14). */
export interface GlobalOptions {
  readonly profile?: string;
  readonly keypair?: string;
  /** true: the whole document; text: the chosen fields. */
  readonly json?: true | string;
  readonly yes?: true;
  readonly input: boolean;
  readonly dryRun?: true;
  /** Atomic USDC. */
  readonly maxPayment?: bigint;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
  /** false: long results are printed as they are. */
  readonly pager?: boolean;
  /** For a screen reader; FARELOCK_PLAIN too. */
  readonly plain?: true;
}

/** 0 done, 8 ended and not as asked, 130 interrupted with a result; every other code comes from a problem. */
export type ExitCode = 0 | 8 | 130;

export type Environment = Readonly<Record<string, string | undefined>>;
