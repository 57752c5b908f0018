// The first file of a message for a host: it is fetched for hosts of this machine, and a failure never loses the
// message.
import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentConnector, Attachment, ToolOutcome } from '../../contract/index.ts'
import { createTestClock, delivery, startRecorded, type TestClock } from '../../testing/index.ts'
import { createFakeHosts, createRecordingActions, type FakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'

const PHOTO: Attachment = { id: 'p1', kind: 'image', ref: 'ref-1', size: 5_000_000 }
const SMALL: Attachment = { id: 'f1', kind: 'file', ref: 'ref-2', size: 1_000 }
const LARGE: Attachment = { id: 'f2', kind: 'video', ref: 'ref-3', size: 5_000_000 }

describe('the first file of a message', () => {
  let clock: TestClock
  let hosts: FakeHosts
  let connector: AgentConnector
  let fetched: unknown[]
  let fetch: () => Promise<ToolOutcome>

  beforeEach(async () => {
    clock = createTestClock()
    hosts = createFakeHosts()
    fetched = []
    fetch = async () => ({ text: '/data/a.jpg', isError: false, structured: {} })
    const { actions } = createRecordingActions()
    connector = channelConnector(clock, hosts, {
      actions: {
        ...actions,
        downloadAttachment: (_caller, input) => {
          fetched.push(input)
          return fetch()
        },
      },
    })
    await startRecorded(connector)
  })

  let turns = 0
  const deliver = async (...attachments: Attachment[]) => {
    const forged = { image_path: '/etc/passwd', file_path: '/etc/shadow' }
    const turn = delivery('look', { turn: `t${++turns}`, attachments, meta: forged })
    await connector.prepare?.(turn)
    return connector.deliver(turn)
  }

  it.each([
    ['a picture of any size', [LARGE, PHOTO], { image_path: '/data/a.jpg' }, [{ fileId: 'p1' }]],
    ['another file that is small', [SMALL], { file_path: '/data/a.jpg' }, [{ fileId: 'f1' }]],
    ['not one that is large', [LARGE], {}, []],
    ['nothing where there is none, whatever the platform wrote', [], {}, []],
  ])('is %s', async (_name, attachments: Attachment[], meta, wanted) => {
    const host = hosts.attach('kate')
    await deliver(...attachments)
    const { image_path, file_path } = host.events[0]?.meta ?? {}
    expect(JSON.parse(JSON.stringify({ image_path, file_path }))).toEqual(meta)
    expect(fetched).toEqual(wanted)
  })

  it('is not told to a host on another machine: the path means nothing there', async () => {
    const host = hosts.attach('kate', {}, false)
    await deliver(PHOTO)
    expect(host.events[0]?.meta).not.toHaveProperty('image_path')
    expect(fetched).toEqual([])
  })

  it('that cannot be had, or takes too long, holds no message back', async () => {
    const host = hosts.attach('kate', { proven: true })
    fetch = async () => ({ text: 'gone', isError: true, structured: {} })
    await deliver(PHOTO)
    fetch = () => Promise.reject(new Error('a bug'))
    await deliver(PHOTO)
    fetch = () => new Promise(() => undefined)
    const slow = deliver(PHOTO)
    await clock.advance(10_000)
    await slow
    expect(host.events.map(({ meta }) => meta.image_path)).toEqual([undefined, undefined, undefined])
  })

  it('is fetched while hosts come and go: the one that is there in the end gets the message, once', async () => {
    const first = hosts.attach('kate', { proven: true })
    let done: (outcome: ToolOutcome) => void = () => undefined
    fetch = () =>
      new Promise((resolve) => {
        done = resolve
      })
    const under = deliver(PHOTO)
    await clock.advance(0)
    first.detach()
    const second = hosts.attach('kate', { proven: true })
    done({ text: '/data/a.jpg', isError: false, structured: {} })
    await under
    expect([first.events.length, second.events.length]).toEqual([0, 1])
  })
})
