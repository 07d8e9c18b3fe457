import type { ComposedMail } from './compose.ts';
import { DeliveryRefused, ReceiverUnreachable } from './message.ts';
import { isLoopback } from './settings.ts';

const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;

/**
 * Hands a mail to an SMTP server, over TLS unless the server is this machine: names and itineraries travel in it.
 * Resolves once the server has taken it.
 */
export async function sendSmtp(smtpUrl: string, mail: ComposedMail, signal: AbortSignal): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    ...(secure || isLoopback(url.hostname) ? {} : { requireTLS: true }),
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const sending = transport.sendMail({
      envelope: { from: mail.envelope.from, to: [...mail.envelope.to] },
      raw: mail.raw,
    });
    await Promise.race([sending, aborted(signal)]);
  } catch (error) {
    throw refusedOrUnreachable(error);
  } finally {
    transport.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new ReceiverUnreachable('no answer in time'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Server texts name recipients: only the code goes further. A 5xx for this mail says nothing about the next one. */
function refusedOrUnreachable(error: unknown): Error {
  if (error instanceof ReceiverUnreachable) return error;
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const permanent = typeof responseCode === 'number' && responseCode >= 500;
  if (permanent && (code === 'EENVELOPE' || code === 'EMESSAGE')) return new DeliveryRefused(`status ${responseCode}`);
  return new ReceiverUnreachable(typeof code === 'string' ? code : 'unknown');
}
