/** The three headers of x402 version 2. Each carries base64 of JSON. */
export const PAYMENT_REQUIRED = 'PAYMENT-REQUIRED';

export const PAYMENT_SIGNATURE = 'PAYMENT-SIGNATURE';

export const PAYMENT_RESPONSE = 'PAYMENT-RESPONSE';

export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** undefined when it is not base64 of JSON. */
export function decodeHeader(header: string): unknown {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return undefined;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
