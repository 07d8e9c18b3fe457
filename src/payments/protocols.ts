import type { HttpHeaders } from '../kernel/http.ts';
import { mpp } from './mpp.ts';
import type { Protocol } from './protocol.ts';
import { x402 } from './x402.ts';

/** The protocols of a paywall. The first one fills the body of a 402. */
export const PROTOCOLS: readonly Protocol[] = [x402, mpp];

export const carriesPayment = (headers: HttpHeaders): boolean => PROTOCOLS.some((one) => one.isIn(headers));
