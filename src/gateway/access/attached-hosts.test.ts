// The daemon that ends when it is not needed: not while a host is attached, a person watches, or work happens.
import { describe, expect, it } from 'vitest'
import type { FrameReader, Store } from '../../contract/index.ts'
import { createRecordingLog, createTestClock, testSettings } from '../../testing/index.ts'
import { createAttachments } from './attached-hosts.ts'

const IDLE_MS = 600_000

function opened() {
  const clock = createTestClock()
  type Listen = Parameters<Store['onHint']>[0]
  const listeners: Listen[] = []
  const seen = { watched: false, exits: 0 }
  const attachments = createAttachments({
    clock,
    log: createRecordingLog(),
    settings: () => testSettings(),
    watched: () => seen.watched,
  })
  attachments.door.open('kate', {
    dialect: 'claude',
    admit: () => ({
      call: () => new Promise(() => undefined),
      ask: async () => undefined,
      detached: () => undefined,
    }),
  })
  const onHint = (listen: Listen) => {
    listeners.push(listen)
    return () => undefined
  }
  const stop = attachments.exitWhenIdle(IDLE_MS, { onHint }, () => {
    seen.exits += 1
  })
  /** A host that answers every ping while it is attached. */
  const attach = (): FrameReader => {
    const reader = attachments.accept({
      send: (text) => {
        if (text.includes('"ping"')) reader.line('{"t":"pong"}')
      },
      end: () => undefined,
    })
    const hello = {
      t: 'hello',
      v: 1,
      agent: 'kate',
      dialect: 'claude',
      routingKey: null,
      held: [],
      asks: [],
      proven: false,
    }
    reader.line(JSON.stringify(hello))
    reader.line('{"t":"ready","client":null}')
    return reader
  }
  return {
    clock,
    seen,
    stop,
    attach,
    happens() {
      for (const tell of listeners) tell({ kind: 'access' }, null)
    },
  }
}

describe('[S6.ch-idle-exit] the daemon that a shim started', () => {
  it('ends once nobody was attached and nothing happened for that long, once', async () => {
    const { clock, seen } = opened()
    await clock.advance(IDLE_MS - 1)
    expect(seen.exits).toBe(0)
    await clock.advance(15_001)
    expect(seen.exits).toBe(1)
    await clock.advance(IDLE_MS * 3)
    expect(seen.exits).toBe(1)
  })

  it('stays while a host is attached, and counts from when it left', async () => {
    const { clock, seen, attach } = opened()
    const host = attach()
    await clock.advance(IDLE_MS * 3)
    expect(seen.exits).toBe(0)
    host.closed()
    await clock.advance(IDLE_MS - 15_000)
    expect(seen.exits).toBe(0)
    await clock.advance(30_000)
    expect(seen.exits).toBe(1)
  })

  it('stays while somebody watches, and while messages come and go', async () => {
    const { clock, seen, happens } = opened()
    seen.watched = true
    await clock.advance(IDLE_MS * 2)
    seen.watched = false
    for (let rounds = 0; rounds < 5; rounds++) {
      await clock.advance(IDLE_MS / 2)
      happens()
    }
    expect(seen.exits).toBe(0)
    await clock.advance(IDLE_MS + 15_000)
    expect(seen.exits).toBe(1)
  })

  it('does not end when that was called off', async () => {
    const { clock, seen, stop } = opened()
    stop()
    await clock.advance(IDLE_MS * 2)
    expect(seen.exits).toBe(0)
  })
})
