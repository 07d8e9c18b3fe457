import { join, resolve } from 'node:path';
import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { type DescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor';

/** The committed .proto files as a stock Connect client wants them: parsed when the test runs, no generated code. */

export const PROTO = resolve(import.meta.dirname, '../../proto');

/**
 * Reads .proto files and gives the service of a full name.
 * @param files below the folder `proto/`, as imports name them.
 */
export function servicesOf(files: readonly string[], folder = PROTO): (typeName: string) => DescService {
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => (protobuf.common.get(target) ? target : join(folder, target));
  root.loadSync([...files], { keepCase: true });
  root.resolveAll();
  const made = (root as unknown as { toDescriptor(syntax: string): protobuf.Message }).toDescriptor('proto3');
  const set = fromBinary(FileDescriptorSetSchema, descriptor.FileDescriptorSet.encode(made).finish());
  for (const file of set.file) {
    for (const message of file.messageType) qualify(root, `${file.package}.${message.name}`, message);
    for (const service of file.service) {
      const { methods } = root.lookupService(`${file.package}.${service.name}`);
      for (const method of service.method) {
        const found = methods[method.name];
        found?.resolve();
        method.inputType = found?.resolvedRequestType?.fullName ?? method.inputType;
        method.outputType = found?.resolvedResponseType?.fullName ?? method.outputType;
      }
    }
  }
  // There is one file per package here, without imports: a package comes before those that use it.
  const rank = ({ package: name }: { package: string }) => (name.startsWith('google.') ? 0 : name.length);
  set.file.sort((a, b) => rank(a) - rank(b));
  const registry = createFileRegistry(set);
  return (typeName) => {
    const found = registry.getService(typeName);
    if (!found) throw new Error(`${typeName} is in no .proto`);
    return found;
  };
}

/** protobufjs names types relative to where they stand and leaves JSON names out; a registry wants both in full. */
function qualify(root: protobuf.Root, fullName: string, message: DescriptorProto): void {
  const { fields } = root.lookupType(fullName);
  for (const field of message.field) {
    field.typeName = fields[field.name]?.resolve().resolvedType?.fullName ?? field.typeName;
    field.jsonName = field.name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());
  }
  for (const nested of message.nestedType) {
    if (!nested.options?.mapEntry) qualify(root, `${fullName}.${nested.name}`, nested);
  }
}
