import { withoutAddressKeys } from './shown-url.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Logs names and ids, never bodies, keys, codes or headers; `SECRET_FIELD` hides private fields all the same. */
export type Log = (
  level: LogLevel,
  event: string,
  fields?: Record<string, string | number | boolean | null | undefined>,
) => void;

export const silentLog: Log = () => undefined;

const SECRET_FIELD = /(secret|code|passport|name|email|phone|key|token|signature_header|authorization)$/i;
const SAFE_FIELD = new Set(['code', 'error_code', 'problem_code', 'event_name', 'error_name']);

export function jsonLog(write: (line: string) => void, now: () => number, least: LogLevel = 'info'): Log {
  const order: LogLevel[] = ['debug', 'info', 'warn', 'error'];
  return (level, event, fields = {}) => {
    if (order.indexOf(level) < order.indexOf(least)) return;
    const safe = Object.entries(fields).map(([name, value]) =>
      SECRET_FIELD.test(name) && !SAFE_FIELD.has(name)
        ? [name, '[private]']
        : [name, typeof value === 'string' ? withoutAddressKeys(value) : value],
    );
    write(JSON.stringify({ at: new Date(now()).toISOString(), level, event, ...Object.fromEntries(safe) }));
  };
}
