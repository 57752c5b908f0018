// Set-up that the webhook's tests share: an adapter over fakes, and requests from the recorded payloads.
import { readFileSync } from 'node:fs'
import type {
  IntegrationSettings,
  PlatformDeps,
  RawRequest,
  TranscriptEntry,
  TranscriptQuery,
} from '../../contract/index.ts'
import { hmacKey, signSha256 } from '../../kit/index.ts'
import { createRecordingLog, type RecordingLog } from '../../testing/recording-log.ts'
import { createTestClock, type TestClock } from '../../testing/test-clock.ts'

export const SECRET = 'planted-hook-secret-4711'
export const OUT_SECRET = 'planted-out-secret-4712'

export interface FakeDeps extends PlatformDeps {
  readonly clock: TestClock
  readonly log: RecordingLog
  /** The transcript that `deps.transcript` reads. */
  readonly rows: TranscriptEntry[]
}

export function fakeDeps(options: Record<string, unknown>): FakeDeps {
  const rows: TranscriptEntry[] = []
  const clock = createTestClock()
  const none = () => Promise.reject(new Error('no tokens here'))
  return {
    integration: settings(options),
    clock,
    log: createRecordingLog(),
    random: { uuid: () => 'uuid', bytes: (count) => new Uint8Array(count) },
    secret: (reference) => (reference === 'env:OUT' ? OUT_SECRET : SECRET),
    tokens: { mint: none, find: async () => null, consume: async () => null },
    filesDir: '/nonexistent',
    rows,
    transcript: async (query) => select(rows, query),
  }
}

function settings(options: Record<string, unknown>): IntegrationSettings {
  return {
    id: 'demo',
    platform: 'webhook',
    enabled: true,
    default: false,
    scope: 'bound',
    access: {
      readable: true,
      dm: 'allowlist',
      allowFrom: ['dev'],
      approvers: [],
      groups: {},
      mentionPatterns: [],
    },
    options,
    origin: 'test',
  }
}

/** As the store answers: oldest first; after a position the oldest, otherwise the newest. */
function select(rows: readonly TranscriptEntry[], query: TranscriptQuery): readonly TranscriptEntry[] {
  const found = rows
    .filter((row) => query.direction === undefined || row.direction === query.direction)
    .filter((row) => query.conversation === undefined || row.conversation === query.conversation)
    .filter(
      (row) => row.seq > (query.afterSeq ?? 0) && row.seq < (query.beforeSeq ?? Number.POSITIVE_INFINITY),
    )
    .sort((a, b) => a.seq - b.seq)
  return query.afterSeq === undefined ? found.slice(-query.limit) : found.slice(0, query.limit)
}

export function request(more: Partial<RawRequest> & { readonly text?: string } = {}): RawRequest {
  const { text = 'hello', ...rest } = more
  return {
    method: 'POST',
    path: '',
    query: new URLSearchParams(),
    body: Buffer.from(text),
    fromLoopback: true,
    ...rest,
    headers: { host: 'localhost:4747', ...rest.headers },
  }
}

export function signed(text: string | Uint8Array, headers: Record<string, string> = {}): RawRequest {
  const body = Buffer.from(text as string)
  return request({ body, headers: { ...headers, 'x-hub-signature-256': signSha256(hmacKey(SECRET), body) } })
}

export interface RecordedPayload {
  readonly name: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** A payload as it came over the wire, from `fixtures/`. */
export function recorded(name: string): RecordedPayload {
  const text = readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8')
  const { headers, body } = JSON.parse(text) as { headers: Record<string, string>; body: unknown }
  return { name, headers, body: JSON.stringify(body) }
}

/** The seed's curl lines: several bodies under the same headers. */
export function seedCurl(): { readonly headers: Record<string, string>; readonly bodies: readonly string[] } {
  return JSON.parse(readFileSync(new URL('./fixtures/seed-curl.json', import.meta.url), 'utf8'))
}
