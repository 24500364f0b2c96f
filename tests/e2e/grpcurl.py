#!/usr/bin/python3
"""A stand-in for grpcurl, which Debian does not have: one unary call by server reflection, without the protos.

    grpcurl.py -plaintext -d '{"contents": ["Good morning."]}' ADDRESS PACKAGE.SERVICE/METHOD
"""

import argparse

import grpc
import harness  # noqa: F401  puts the stubs of the reflection service on the path
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc.reflection.v1alpha import reflection_pb2, reflection_pb2_grpc


def message_class(descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory().GetPrototype(descriptor)  # before protobuf 4.22


def service_of(channel, name):
    """The descriptor of a service, from the files that the server's reflection returns."""
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name)
    answer, = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([request]), timeout=30)
    files = [descriptor_pb2.FileDescriptorProto.FromString(file)
             for file in answer.file_descriptor_response.file_descriptor_proto]
    pool, added = descriptor_pool.DescriptorPool(), set()
    while len(added) < len(files):  # a file comes after those that it imports
        ready = [file for file in files if file.name not in added and added.issuperset(file.dependency)]
        for file in ready:
            pool.Add(file)
            added.add(file.name)
        if not ready:
            raise SystemExit("the server's reflection leaves out files that others import")
    return pool.FindServiceByName(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-plaintext", action="store_true", required=True)
    parser.add_argument("-d", dest="data", default="{}")
    parser.add_argument("address")
    parser.add_argument("method")
    arguments = parser.parse_args()
    service, _, name = arguments.method.partition("/")
    with grpc.insecure_channel(arguments.address) as channel:
        method = service_of(channel, service).methods_by_name[name]
        request = json_format.Parse(arguments.data, message_class(method.input_type)())
        call = channel.unary_unary(f"/{arguments.method}", lambda message: message.SerializeToString(),
                                   message_class(method.output_type).FromString)
        print(json_format.MessageToJson(call(request, timeout=30)))


if __name__ == "__main__":
    main()
