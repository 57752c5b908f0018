// Migration 20: takeovers by their places, so that turns that are taken find theirs without being read first.
import type { Migration } from './migration.ts'

export const takeoverPlaces: Migration = {
  number: 20,
  name: 'takeover-places',
  statements: ['CREATE INDEX takeovers_place ON takeovers (integration, conversation)'],
}
