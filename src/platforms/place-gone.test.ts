// Refusals that say that a place is gone: no notice about an undelivered message is sent there.
import { expect, it } from 'vitest'
import { refusalOf as discord } from './discord/api/refusals.ts'
import { refusalOf as slack } from './slack/api/refusals.ts'
import { refusalOf as whatsapp } from './whatsapp/refusals.ts'

it('[I35.b1-known] a chat or person that is gone is told from a refusal of the message', () => {
  const answered = { status: 400, retryAfterMs: null }
  expect([
    slack('channel_not_found', {}).placeGone,
    discord(404, { code: 10003 }).placeGone,
    whatsapp({ error: { code: 131026 } }, answered)?.placeGone,
  ]).toEqual([true, true, true])
  expect([
    slack('msg_too_long', {}).placeGone,
    discord(400, { code: 50006 }).placeGone,
    whatsapp({ error: { code: 131051 } }, answered)?.placeGone,
  ]).toEqual([undefined, undefined, undefined])
})
