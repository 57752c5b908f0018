// What doctor reads in Claude Code's debug logs: the newest word about our server, and no gate that is open by now.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { skippedChannels } from './claude-gates.ts'

const home = mkdtempSync(join(tmpdir(), 'swb-gates-'))
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** The higher its age the older the log. */
function log(age: number, ...lines: string[]) {
  mkdirSync(join(home, '.claude/debug'), { recursive: true })
  const file = join(home, `.claude/debug/session-${age}.txt`)
  writeFileSync(file, lines.map((line) => `2026-01-01T00:00:00.000Z [DEBUG] ${line}\n`).join(''))
  utimesSync(file, 1_000_000 - age, 1_000_000 - age)
}
const said = (what: string, server = 'switchboard') => `MCP server "${server}": ${what}`
const skipped = (reason: string, server?: string) => said(`Channel notifications skipped: ${reason}`, server)
const SESSION = 'server switchboard not in --channels list for this session'
const FEATURE = 'channels feature is not currently available'
const found = () => skippedChannels({ HOME: home }).map(({ server, gate }) => `${server}: ${gate}`)

it('[S6.ch-doctor-why] the newest log that names our server counts, not an older one with a gate that is open by now', () => {
  expect(found()).toEqual([])
  log(3, skipped(FEATURE))
  log(2, skipped(SESSION), skipped(FEATURE, 'somebody-else'))
  log(1, 'nothing about channels', said('connected', 'not-switchboard-at-all'))
  expect(found()).toEqual(['switchboard: session'])
  log(0, said('Successfully connected'), said('Calling MCP tool: reply'))
  expect(found()).toEqual([])
})

it('[S6.ch-doctor-why] and of that log the last line about its registration', () => {
  log(1, skipped(SESSION), skipped(FEATURE), said('Calling MCP tool: reply'))
  expect(found()).toEqual(['switchboard: feature'])
  log(0, skipped(SESSION), said('Channel notifications registered'))
  expect(found()).toEqual([])
})

it('[S6.ch-doctor-why] the plugin is found by its scoped name', () => {
  const reason =
    'plugin switchboard@switchboard is not on the approved channels allowlist (use --dangerously-load-development-channels for local dev)'
  log(0, skipped(reason, 'plugin:switchboard:switchboard'))
  expect(found()).toEqual(['plugin:switchboard:switchboard: allowlist'])
})
