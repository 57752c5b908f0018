// Setting a number up: the questions, the trial, the lines to paste, and doctor's findings before anything runs.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRealClock } from '../../runtime/real-clock.ts'
import { createFakeWhatsApp, type FakeWhatsApp } from '../../testing/emulate.ts'
import { testIntegration } from '../../testing/test-settings.ts'
import { readConfig } from './config.ts'
import { whatsappModule } from './module.ts'

let fake: FakeWhatsApp
beforeEach(async () => {
  fake = await createFakeWhatsApp()
})
afterEach(() => fake.stop())
const options = (over: object = {}) => ({
  phone_number_id: fake.phoneNumberId,
  access_token: fake.token,
  app_secret: fake.appSecret,
  verify_token: fake.verifyToken,
  api_url: fake.url,
  ...over,
})
const deps = { clock: createRealClock() }

describe('[I24.wa-setup] whatsapp', () => {
  it('asks for what is needed, and makes a verify token where there is none', () => {
    const questions = whatsappModule.setup?.questions ?? []
    expect(questions.map(({ key }) => key)).toEqual([
      'phone_number_id',
      'access_token',
      'app_secret',
      'verify_token',
    ])
    expect(questions.filter(({ secret }) => secret).map(({ key }) => key)).toEqual([
      'access_token',
      'app_secret',
      'verify_token',
    ])
    const fresh = questions.at(-1)?.fresh
    expect(fresh?.()).toMatch(/^[0-9a-f]{32}$/)
    expect(fresh?.()).not.toBe(fresh?.())
  })

  it('tries the token on the real thing, and says what is wrong without it', async () => {
    expect(await whatsappModule.setup?.try?.(options(), deps)).toEqual({ who: '15550783881 (Emulated)' })
    const wrong = whatsappModule.setup?.try?.(options({ access_token: 'EAAGwrong' }), deps)
    await expect(wrong).rejects.toMatchObject({ message: expect.stringMatching(/^190/) })
    await expect(wrong).rejects.not.toMatchObject({ message: expect.stringContaining('EAAGwrong') })
    await expect(whatsappModule.setup?.try?.(options({ phone_number_id: '../me' }), deps)).rejects.toThrow(
      'phone_number_id',
    )
    await expect(whatsappModule.setup?.try?.(options({ access_token: 'two words' }), deps)).rejects.toThrow(
      'access_token',
    )
  })

  it('says what to paste where, and that it must be reachable', () => {
    const place = { id: 'wa', base: 'https://sb.example.com', options: {} }
    expect(whatsappModule.setup?.paste?.(place).join('\n')).toContain('https://sb.example.com/hooks/wa')
    const integration = testIntegration('wa', { platform: 'whatsapp' })
    expect(whatsappModule.doctor?.(integration, { publicUrl: null })).toMatchObject([
      { flagged: true, key: 'server.public_url' },
    ])
    expect(whatsappModule.doctor?.(integration, { publicUrl: 'https://sb.example.com' })).toEqual([])
  })

  it('takes the version of the API from the option, or from a URL that has one', () => {
    const secrets = { secret: () => 'x' }
    const urlOf = (over: object) => {
      const given = options({ access_token: 'env:A', app_secret: 'env:B', verify_token: 'env:C', ...over })
      return readConfig({ integration: { id: 'wa', options: given }, ...secrets }).apiUrl
    }
    expect(urlOf({ api_url: 'https://x.example/' })).toBe('https://x.example/v25.0')
    expect(urlOf({ api_url: 'https://x.example', api_version: 'v26.0' })).toBe('https://x.example/v26.0')
    expect(urlOf({ api_url: 'https://x.example/v24.0/' })).toBe('https://x.example/v24.0')
  })
})
