// The platform imessage through the shared platformSuite, against the double of Messages.
import { defined, type PlatformAdapter, type PlatformIntake } from '../../contract/index.ts'
import type { ScriptAnswer } from '../../testing/imessage/messages-double.ts'
import {
  describePlatform,
  type FixtureOptions,
  type PlatformFault,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import { KATE, OWN, openScene } from './fixtures/imessage-scene.ts'

const FAULTS: Readonly<Record<PlatformFault, ScriptAnswer>> = {
  none: {},
  down: { error: 'Application isn’t running. (-600)' },
  silent: { row: false },
  rejects: { row: { sent: false, error: 22 } },
  busy: { error: 'Not authorized to send Apple events to Messages. (-1743)' },
}

async function fixture({ fault, lease }: FixtureOptions): Promise<PlatformFixture> {
  const scene = openScene({ timings: { confirmMs: 300 }, ...defined({ lease }) })
  const { double, adapter, settled } = scene
  double.says(KATE, 'standing')
  double.answerWith(() => FAULTS[fault])
  let [taken, failed] = [0, 0]
  /** Advances until the written message was committed, or could not be. */
  const deliver = async (write: () => void) => {
    const before = [taken, failed]
    write()
    while (taken === before[0] && failed === before[1]) await scene.look()
    return { acknowledged: taken > (before[0] ?? 0), sentBack: '' }
  }
  const watched = (intake: PlatformIntake): PlatformIntake => ({
    ...intake,
    async receive(events, options) {
      try {
        const received = await intake.receive(events, options)
        if (events.length > 0) taken += 1
        return received
      } catch (thrown) {
        if (events.length > 0) failed += 1
        throw thrown
      }
    },
  })
  const driven = (real: PlatformAdapter): PlatformAdapter => ({
    ...real,
    start: (intake, cursor) => real.start(watched(intake), cursor),
    send: (request) => settled(real.send(request)),
  })
  const greeting = {
    name: 'a message',
    deliver: () => deliver(() => void double.says(KATE, 'hello ä 🚀')),
  }
  return {
    adapter: driven(adapter),
    inbound: [
      greeting,
      {
        name: 'in a group',
        deliver: () =>
          deliver(() => {
            double.chat('chat123', { group: true, name: 'Team' })
            double.put('chat123', { text: 'hi all', handle: KATE })
          }),
      },
      {
        name: 'a tapback',
        deliver: () =>
          deliver(
            () => void double.put(KATE, { handle: KATE, associatedType: 2001, associatedGuid: 'p:0/X' }),
          ),
      },
      {
        name: 'to oneself',
        deliver: () =>
          deliver(() => {
            double.chat(OWN)
            double.put(OWN, { text: 'note to self', fromMe: true })
          }),
      },
    ],
    malformed: [
      {
        name: 'a damaged body',
        deliver: () =>
          deliver(
            () =>
              void double.put(KATE, {
                handle: KATE,
                body: Buffer.from('\x04\x0bstreamtyped garbage', 'latin1'),
              }),
          ),
      },
      { name: 'nobody', deliver: () => deliver(() => void double.put(KATE, { text: 'who?', handle: null })) },
    ],
    unverified: [],
    address: { integration: 'im', conversation: KATE },
    reads: async () => double.shown(KATE).at(-1) ?? '',
    history: {
      heard: async (text) => void (await deliver(() => void double.says(KATE, text))),
      // The next check does not see it.
      missed: async (text) => void double.says(KATE, text),
    },
    planted: [],
    pass: () => scene.look(),
    atNode: (another) => ({ adapter: driven(scene.again(another)), inbound: [greeting] }),
    logLines: () => scene.log.lines,
    close: () => scene.close(),
  }
}

describePlatform('imessage [I24.im-suite] [I24.im-complete]', fixture, {
  faults: ['down', 'silent', 'rejects', 'busy'],
  without: {
    unverified: 'there is no door: the database is read on this machine',
    planted: 'it has no secrets',
  },
})
