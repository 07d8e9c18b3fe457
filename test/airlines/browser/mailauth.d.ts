/** The signing half of mailauth, which brings no types. */
declare module 'mailauth/lib/dkim/sign.js' {
  export function dkimSign(message: string, options: object): Promise<{ readonly signatures: string }>;
}
