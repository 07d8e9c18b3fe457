/** The part of mailauth that is used here; it brings no types. */
declare module 'mailauth/lib/dkim/verify.js' {
  export interface DkimResult {
    readonly signingDomain?: string;
    readonly algo?: string;
    /** Names of the headers that are signed, `From: To: Subject`. */
    readonly signingHeaders?: { readonly keys: string };
    /** True where the signature is of a part of the body alone. */
    readonly canonBodyLengthLimited?: boolean;
    readonly status: { readonly result: string };
  }
  export function dkimVerify(
    message: Buffer,
    options: { resolver?: ((name: string, type: string) => Promise<string[][]>) | undefined },
  ): Promise<{ readonly results: readonly DkimResult[] }>;
}
