import { isNestedDeeply } from './cost.ts';

/** A JSON-RPC request. Without an id it is a notification. */
export interface Call {
  readonly method: string;
  readonly params?: unknown;
  readonly id?: string | number | null;
}

/** Checks that parsed JSON is one request. */
export function isCall(call: unknown): call is Call {
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return false;
  const { jsonrpc, method, id } = call as Record<string, unknown>;
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  return jsonrpc === '2.0' && typeof method === 'string' && isId;
}

/** undefined for what is not JSON. Text is looked through first: a parser takes long for what is nested thousands of times. */
export function parseJson(text: string): unknown {
  if (isNestedDeeply(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
