import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate for localhost and 127.0.0.1 that nobody trusts unless told to, made anew for each test. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('55 04 03'), der(0x0c, Buffer.from('localhost')))));
  const san = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const isCa = sequence(der(0x01, Buffer.from([0xff])));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    ECDSA_SHA256,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('55 1d 11'), der(0x04, san)), sequence(oid('55 1d 13'), der(0x04, isCa)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const bytes = sequence(body, ECDSA_SHA256, signature).toString('base64');
  const lines = bytes.match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}

/** ASN.1 as certificates have it: a tag, a length, what is in it. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const set = (...parts: readonly Buffer[]) => der(0x31, ...parts);
const integer = (value: number) => der(0x02, Buffer.from([value]));
const time = (text: string) => der(0x18, Buffer.from(text));
const oid = (hex: string) => der(0x06, Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const ECDSA_SHA256 = sequence(oid('2a 86 48 ce 3d 04 03 02'));
