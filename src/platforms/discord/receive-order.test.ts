// The confirmed position of a session: at the last stored event, never ahead of it, and never past a gap.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { createRealClock } from '../../runtime/real-clock.ts'
import { createFakeIntake } from '../../testing/fake-intake.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import type { Session } from './link/gateway-socket.ts'
import { writeSessions } from './link/sessions.ts'
import { createReceiver, type ReceiverDeps } from './receive.ts'

function open() {
  const intake = createFakeIntake()
  const session: Session = { id: 's', resumeUrl: null, stored: 5 }
  const again: string[] = []
  const nothing = () => undefined
  const self = { userId: '1', name: 'bot', appId: '1', flags: null }
  const place = { conversation: '7', chat: 'direct' } as const
  const receiver = createReceiver({
    config: { options: { threads: 'off' } },
    self: async () => self,
    cache: { placeOf: async () => place, known: nothing },
    door: { open: nothing, close: nothing },
    context: async () => ({
      ...{
        self,
        place,
        now: 0,
        myRoles: new Set(),
        roleName: nothing,
        channelName: nothing,
        opensThreads: false,
      },
    }),
    cursor: (reached: ReadonlyMap<Session, number>) => writeSessions([session], reached),
    again: (_session: Session, cause: string) => void again.push(cause),
    ...{ intake, clock: createRealClock(), log: createRecordingLog() },
    ...{ fetchMessage: nothing, echoed: nothing, blank: nothing, said: nothing, spoke: nothing },
  } as unknown as ReceiverDeps)
  const take = (seq: number) => {
    const data = {
      id: String(seq),
      channel_id: '7',
      type: 0,
      content: `m${seq}`,
      author: { id: '2', username: 'kate' },
    }
    receiver.take({ session, seq, type: 'MESSAGE_CREATE', data })
  }
  const texts = () => intake.events.map((event) => ('text' in event ? event.text : event.kind))
  return { intake, session, again, receiver, take, texts }
}

it('[I20.not-stored] behind what was not stored nothing is taken until the session is resumed', async () => {
  const { intake, session, again, receiver, take, texts } = open()
  intake.failWith(new SwitchboardError('store_unavailable', 'the disk is full'))
  take(6)
  await receiver.idle()
  expect(again).toEqual(['not stored: the disk is full'])
  intake.failWith(null)
  take(7)
  await receiver.idle()
  expect([texts(), session.stored]).toEqual([[], 5])
  session.broken = false
  take(6)
  take(7)
  await receiver.idle()
  expect([texts(), session.stored]).toEqual([['m6', 'm7'], 7])
})

it('[I20.not-stored] [I20.session-kept] a position counts once its commit is done, and stands in it', async () => {
  const { intake, session, receiver, take } = open()
  const release = intake.hold()
  take(6)
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(session.stored).toBe(5)
  release()
  await receiver.idle()
  expect([session.stored, intake.cursors]).toEqual([6, ['{"v":1,"shards":[{"id":"s","url":null,"seq":6}]}']])
})
