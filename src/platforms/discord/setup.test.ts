// Setting Discord up: the printed steps, the trial of the token, and doctor's comparison.
import { afterEach, describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { createRealClock } from '../../runtime/real-clock.ts'
import { createFakeDiscord, type FakeDiscord } from '../../testing/emulate.ts'
import { readConfig } from './config.ts'
import { openScene, until } from './fixtures/discord-scene.ts'
import { discordModule } from './module.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})
const { setup } = discordModule

async function open(options: Parameters<typeof createFakeDiscord>[0] = {}): Promise<FakeDiscord> {
  const fake = await createFakeDiscord(options)
  ends.push(() => fake.stop())
  return fake
}

describe('the set-up', () => {
  it('[I20.invite] prints the link with the exact bits, and the intents to switch on', () => {
    const lines = setup?.paste?.({ id: 'd', base: 'http://x', options: {} }).join('\n') ?? ''
    expect(lines).toContain(
      'https://discord.com/oauth2/authorize?client_id=APPLICATION_ID&scope=bot+applications.commands&permissions=309237763136',
    )
    expect(lines).toContain('switch on "Message Content Intent"')
    expect(lines).toContain('Send Messages in Threads')
    const without =
      setup?.paste?.({ id: 'd', base: 'http://x', options: { message_content: false } }).join('\n') ?? ''
    expect(without).toContain('all stay off')
  })

  it('[I20.invite] tries the token, and says whom it is of and how to invite it', async () => {
    const fake = await open()
    const tried = (token: string, api_url = fake.apiUrl) =>
      setup?.try?.({ token, api_url }, { clock: createRealClock() })
    expect(await tried(fake.token)).toEqual({
      who: '@switchboard, invited to a server by https://discord.com/oauth2/authorize?client_id=900000000000000001&scope=bot+applications.commands&permissions=309237763136',
    })
    await expect(tried('wrong-token')).rejects.toMatchObject({
      message: expect.stringMatching(/^401.*does not take the token/),
    })
    const off = await open({ contentIntent: false })
    expect((await tried(off.token, off.apiUrl))?.who).toContain('intent Message Content: switched off')
  })

  it('[I20.invite] discord:// takes the token, and no webhook of a channel', () => {
    const read = setup?.schemes?.discord
    expect([read?.(''), read?.('abc.def')]).toEqual([{}, { token: 'abc.def' }])
    expect(() => read?.('123/token')).toThrow(SwitchboardError)
  })

  it('a token that cannot stand in a header is told with its key, never with its value', () => {
    const read = (value: string) =>
      readConfig({ integration: { id: 'd', options: { token: 'env:T' } }, secret: () => value })
    expect(read(' Bot abc.def\n').token).toBe('abc.def')
    for (const value of ['', 'a b', 'sécret'])
      expect(() => read(value)).toThrow('token: is empty or has characters')
    expect(() =>
      readConfig({ integration: { id: 'd', options: { token: 'plain' } }, secret: () => '' }),
    ).toThrow('token')
    expect(discordModule.defaultAccess).toEqual({ dm: 'pairing' })
  })

  it('[I20.invite] doctor compares intents and permissions with those in use', async () => {
    const scene = await openScene()
    ends.push(() => scene.close())
    await scene.start()
    const gates = () => scene.adapter.checks?.gates?.() ?? []
    await until('they are known', () => gates().length === 2)
    expect(gates().map(({ gate, pass }) => [gate, pass])).toEqual([
      ['intents', true],
      ['permissions', true],
    ])
    const role = scene.fake.world.guild.roles[1]
    if (role) role.permissions = String(309_237_763_136n & ~(1n << 16n))
    scene.fake.gateway.reconnect()
    const lacking = await until('it is seen', () =>
      gates().find(({ gate }) => gate === 'permissions in Emulated'),
    )
    expect(lacking).toMatchObject({
      pass: false,
      reason: expect.stringMatching(
        /Read Message History \(missed messages are not found\).*permissions=309237763136/,
      ),
    })
    if (role) role.permissions = '8'
    scene.fake.gateway.reconnect()
    await until('an administrator lacks nothing', () =>
      gates().some(({ gate, pass }) => gate === 'permissions' && pass),
    )
  })
})
