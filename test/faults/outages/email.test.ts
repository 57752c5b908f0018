// A real daemon on a platform that is away for a while: every fault of the TCP proxy, and kill -9 in the middle.
import { describeOutages } from './play.ts'

describeOutages('email')
