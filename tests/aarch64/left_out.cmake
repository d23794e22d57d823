# Unit tests of what QEMU's user mode does not have: mbind and move_pages (ENOSYS), mincore of pages that were not
# touched, MADV_POPULATE_READ, a user's own rights over files; and of where modules are, which it maps differently.
set(nodewise_left_out
  Array.IsZeroAndUntouchedUntilItIsWritten
  AgentExtents.AMapOfThousandsOfPartsIsMadeToFitTheMappings
  AgentLoaderList.*
  Arena.FreeMemoryGoesBackToTheKernelAndToNoOtherOwner
  Arena.OtherThreadsMayFree
  CachedFile.IsReadOnceAndKeepsItsContents
  CachedFile.MayBecomeShorterWhileItIsMapped
  Executable.AProgramWithOtherRightsDoesNot
  *NodeTeams/*.FirstTouchBringsAllPagesIntoMemoryAndKeepsContents
  Run.ANodeThatIsNotThereIsUnavailableAndTheOthersAreMeasured)
list(JOIN nodewise_left_out ":" nodewise_left_out)
