import type { Paint } from '../../../terminal/paint.ts';
import { fieldLines, tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import { fromNow, utcTime } from '../../../terminal/times.ts';
import type { IssuedPartnerKey, PartnerKey } from '../../../wire/partner/index.ts';

/** The keys of partners, by name; never the keys themselves. */
export const partnerKeysView = (nowMs: number): View<{ keys: readonly PartnerKey[] }> => ({
  list: 'keys',
  lines: ({ keys }, { paint, width }) =>
    keys.length === 0
      ? ['No partner keys.']
      : tableLines(
          [
            { title: 'Key' },
            { title: 'Partner' },
            { title: 'Name', cuts: true },
            { title: 'Last used' },
            { title: 'State' },
          ],
          keys.map((key) => [
            key.key_id,
            key.partner_id,
            key.name,
            key.last_used_at === null ? '–' : fromNow(key.last_used_at, nowMs),
            stateText(key, nowMs, paint),
          ]),
          paint.dim,
          width,
        ),
  rows: ({ keys }) =>
    keys.map((key) => [
      key.key_id,
      key.partner_id,
      key.environment,
      key.name,
      key.last_used_at,
      key.expires_at,
      key.revoked_at,
    ]),
});

function stateText(key: PartnerKey, nowMs: number, paint: Paint): string {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at === null) return paint.good('works');
  return Date.parse(key.expires_at) <= nowMs
    ? 'rotated out'
    : paint.warn(`works until ${utcTime(key.expires_at)}`);
}

/** A new key, the only time that it is shown. */
export const issuedPartnerKeyLines = (issued: IssuedPartnerKey, { paint }: Screen): string[] => [
  issued.key,
  ...fieldLines(
    [
      ['Key id', issued.key_id],
      ['Partner', issued.partner_id],
      ['Environment', issued.environment],
      ['Name', issued.name],
    ],
    paint.dim,
  ),
];
