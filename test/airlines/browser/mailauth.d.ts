/** The parts of mailauth that are used here; it brings no types. */
declare module 'mailauth/lib/dkim/sign.js' {
  export function dkimSign(message: string, options: object): Promise<{ readonly signatures: string }>;
}

declare module 'mailauth/lib/dkim/verify.js' {
  export function dkimVerify(
    message: Buffer,
    options: { resolver?: (name: string, type: string) => Promise<string[][]> },
  ): Promise<{ readonly results: readonly { readonly status: { readonly result: string } }[] }>;
}
